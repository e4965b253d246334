"""A small site for the tests: two racks, two hosts with two HCAs, two leaves and a spine."""

SMALL = """\
name: small
racks:
  R[1-2]: {units: 10}
node_models:
  host: {hcas: [mlx5_0, mlx5_1], gpus: 2, height_u: 2}
switch_models:
  mini: {ports: 4}
nodes:
  h[1-2]:
    model: host
    place: {racks: "R[1-2]", first_unit: 1}
switches:
  leaf[1-2]:
    model: mini
    tier: leaf
    named: leaf{rail}
    place: {racks: "R[1-2]", first_unit: 8}
  spine1:
    model: mini
    tier: spine
    places: {spine1: {rack: R1, unit: 10}}
fabrics:
  one:
    plan: {file: one.csv}
    link_classes:
      fast: {rate: 4xNDR}
      old: {rate: 4xEDR, tiers: [host, leaf], devices: h2}
    default_class: fast
"""
