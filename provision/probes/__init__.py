"""Looking at services that hosts need to boot: DHCP, DNS, proxy, time, metadata."""
