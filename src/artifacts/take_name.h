/*
 * take_name.h - giving a file a name that nobody has, and never taking one away. Private to this room; blocking.
 *
 * Three ways, of which every file system has one: a rename that does not replace (Linux, most local file systems), a hard link
 * (NFS), and a name reserved with O_EXCL (what has neither, such as some FUSE file systems). With the last, a kill at the wrong
 * moment leaves an empty file under the name; with the others nothing.
 */
#ifndef ARTIFACTS_TAKE_NAME_H
#define ARTIFACTS_TAKE_NAME_H

#include "base/base.h"

/* Renames `temporary` to `name` in one directory. 0, or -1 with errno EEXIST when the name is taken; then nothing has changed. */
int take_name(int directory_fd, const char *temporary, const char *name);

/* The three ways; the same, and -1 with another errno when the file system does not offer it. */
typedef int take_name_by(int directory_fd, const char *temporary, const char *name);
take_name_by take_name_by_rename, take_name_by_link, take_name_by_reserving;

#endif
