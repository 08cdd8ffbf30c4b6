/*
 * take_name.h - giving a file a name that nobody has, and never taking one away. Private to this room;
 * blocking.
 *
 * A file without a name is linked. One with a temporary name has three ways, of which every file system
 * offers one: a rename that does not replace (most local file systems), a hard link (NFS), and a name
 * reserved with O_EXCL (what has neither, such as some FUSE file systems). With the last, a kill at the wrong
 * moment leaves an empty file under the name.
 */
#ifndef ARTIFACTS_TAKE_NAME_H
#define ARTIFACTS_TAKE_NAME_H

#include "base/base.h"

/* Where an open file without a name (O_TMPFILE) can be found: proc(5). */
struct unnamed_path {
	char text[32];
};
struct unnamed_path unnamed_path(int fd);

/* Links such a file, of the directory's file system, to `name`. 0, or -1 with errno EEXIST when the name
 * is taken. */
int take_name_for_unnamed(int directory_fd, int fd, const char *name);

/* Renames `temporary` to `name` in one directory. 0, or -1 with errno EEXIST when the name is taken; then
 * nothing has changed. */
int take_name(int directory_fd, const char *temporary, const char *name);

/* The three ways; the same, and -1 with another errno when the file system does not offer it. */
typedef int take_name_by(int directory_fd, const char *temporary, const char *name);
take_name_by take_name_by_rename, take_name_by_link, take_name_by_reserving;

#endif
