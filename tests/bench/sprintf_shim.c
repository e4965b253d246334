/*
 * Lets Debian 12's ibtopodiff run, for comparison only.
 *
 * ibutils 1.5.7 prints a GUID ("0x" and 16 digits: 19 bytes with the end) into an 18-byte buffer. The
 * fortified build counts and aborts; this preloaded library prints without counting.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	va_list values;
	int length;

	(void)flag;
	(void)room;
	va_start(values, format);
	length = vsprintf(to, format, values);
	va_end(values);
	return length;
}
