// SPDX-License-Identifier: Apache-2.0
// silent FOLDER [WHOLE]: a filesystem in user space at FOLDER, served by nobody. Each name in it that has no dot, or begins with one, is
// a folder; every other is a file of 64 KiB of code, or the file WHOLE's. After SIGUSR1 nothing is answered any more. Prints "ready".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

// mov $0x10000, %eax; 1: dec %eax; jnz 1b; ret
static const char code[16] = "\xb8\0\0\x01\0\xff\xc8\x75\xfc\xc3\xcc\xcc\xcc\xcc\xcc\xcc";
static char request[1 << 20], answer[1 << 18], contents[1 << 24];
static size_t size = 64 << 10;
static volatile sig_atomic_t silent;

static void fall_silent(int signal)
{
	(void)signal;
	silent = 1;
}

static int is_folder(const char *name)
{
	return *name == '.' || !strchr(name, '.');
}

// The same whenever it is asked for; odd is a folder.
static uint64_t number_of(const char *name)
{
	uint64_t number = is_folder(name) ? 3 : 2;

	for (; *name; name++)
		number = number * 62 + (uint64_t)(unsigned char)*name * 2 + number % 2;
	return number;
}

static struct fuse_attr attributes(uint64_t node)
{
	int folder = node == FUSE_ROOT_ID || node % 2;

	return (struct fuse_attr){ .ino = node,
				   .size = folder ? 0 : size,
				   .blocks = 1,
				   .mode = folder ? S_IFDIR | 0755 : S_IFREG | 0755,
				   .nlink = 1,
				   .uid = 65534,
				   .gid = 65534,
				   .mtime = 4000000000,
				   .blksize = 4096 };
}

// The body of the answer to a request, or an error.
static long body(const struct fuse_in_header *in, char *out)
{
	const void *asked = in + 1;
	uint64_t node;

	switch (in->opcode) {
	case FUSE_INIT:
		*(struct fuse_init_out *)out = (struct fuse_init_out){
			.major = 7, .minor = 31, .max_readahead = 0, .max_write = 1 << 16
		};
		return sizeof(struct fuse_init_out);
	case FUSE_LOOKUP:
		node = number_of(asked);
		*(struct fuse_entry_out *)out = (struct fuse_entry_out){ .nodeid = node,
									 .attr = attributes(node) };
		return sizeof(struct fuse_entry_out);
	case FUSE_GETATTR:
		*(struct fuse_attr_out *)out = (struct fuse_attr_out){ .attr = attributes(
									       in->nodeid) };
		return sizeof(struct fuse_attr_out);
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		*(struct fuse_open_out *)out = (struct fuse_open_out){ 0 };
		return sizeof(struct fuse_open_out);
	case FUSE_READ: {
		const struct fuse_read_in *read = asked;
		size_t from = read->offset < size ? read->offset : size;
		size_t length = read->size < size - from ? read->size : size - from;

		memcpy(out, contents + from, length);
		return (long)length;
	}
	case FUSE_STATFS:
		*(struct fuse_statfs_out *)out = (struct fuse_statfs_out){
			.st = { .bsize = 4096, .namelen = 255 }
		};
		return sizeof(struct fuse_statfs_out);
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
		return 0;
	default:
		return -ENOSYS;
	}
}

int main(int argc, char **argv)
{
	char options[100];
	int fuse = open("/dev/fuse", O_RDWR);

	if (argc < 2) {
		fprintf(stderr, "usage: silent FOLDER [WHOLE]\n");
		return 2;
	}
	for (size_t at = 0; at < size; at++)
		contents[at] = code[at % sizeof(code)];
	if (argc > 2) {
		FILE *whole = fopen(argv[2], "r");
		size = whole ? fread(contents, 1, sizeof(contents), whole) : 0;
	}
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=65534,group_id=65534,allow_other", fuse);
	if (mount("fuse", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) || setgroups(0, NULL) ||
	    setgid(65534) || setuid(65534)) {
		perror("silent");
		return 3;
	}
	signal(SIGUSR1, fall_silent);
	alarm(120);
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct fuse_out_header *out = (void *)answer;
		const struct fuse_in_header *in = (void *)request;
		long length = read(fuse, request, sizeof(request));

		if (length < 0 && errno == ENODEV)
			return 0;
		if (length < (long)sizeof(*in) || silent || in->opcode == FUSE_FORGET ||
		    in->opcode == FUSE_BATCH_FORGET || in->opcode == FUSE_INTERRUPT)
			continue;
		length = body(in, answer + sizeof(*out));
		*out = (struct fuse_out_header){ .len = sizeof(*out) + (length > 0 ? length : 0),
						 .error = length < 0 ? (int)length : 0,
						 .unique = in->unique };
		// Who asked may be gone.
		if (write(fuse, answer, out->len) < 0)
			continue;
	}
}
