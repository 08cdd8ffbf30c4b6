/*
 * banned.h - functions that this code base does not call, made into compile errors.
 *
 * Unbounded or NUL-bound string functions are replaced by struct str and struct buf, the number parsers by
 * str_to_*(), the others by calls that report errors or do not depend on the locale.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <time.h>

#define BANNED(name) use_of_##name##_is_banned

#undef strcpy
#define strcpy(a, b) BANNED(strcpy)
#undef strcat
#define strcat(a, b) BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) BANNED(strncat)
#undef strtok
#define strtok(a, b) BANNED(strtok)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef atoi
#define atoi(a) BANNED(atoi)
#undef atol
#define atol(a) BANNED(atol)
#undef atoll
#define atoll(a) BANNED(atoll)
#undef atof
#define atof(a) BANNED(atof)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef ctime
#define ctime(t) BANNED(ctime)
#undef asctime
#define asctime(t) BANNED(asctime)
#undef rand
#define rand() BANNED(rand)
#undef random
#define random() BANNED(random)
#undef mktemp
#define mktemp(t) BANNED(mktemp)
#undef tmpnam
#define tmpnam(s) BANNED(tmpnam)
#undef system
#define system(c) BANNED(system)
#undef popen
#define popen(c, m) BANNED(popen)
#undef alloca
#define alloca(n) BANNED(alloca)

#endif
