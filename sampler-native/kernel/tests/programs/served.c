/*
 * A thread whose stack pointer lies in memory of some KIND. `served KIND [busy]`: that thread sleeps, or is on the CPU.
 * Prints its tid and stack pointer, then `ready`, and ends with its stdin or after a minute. Each word of the memory is its
 * own address. Where another process could make a page fault wait, this one has it wait for ever, and prints `asked` when a
 * page is asked for. Started by root, it has the memory as an ordinary user. Status 77: this machine has no such memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE  4096UL
#define BYTES (16 * PAGE)
#define HUGE  (2UL << 20)
#define USER  65534

/* makes the file of this program larger than its memory */
static const volatile char filler[2 * BYTES] = { 1 };

static char *memory;
static size_t bytes = BYTES;
static int busy, fuse = -1, faults = -1;
static volatile long tid;

static void must(int done, const char *what)
{
	if (!done) {
		perror(what);
		exit(1);
	}
}

static void *map(void *at, int flags, int file)
{
	void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
	if (p == MAP_FAILED)
		exit(77);
	return p;
}

static void fill(void)
{
	for (uint64_t *p = (uint64_t *)memory; (char *)p < memory + bytes; p++)
		*p = (uint64_t)p;
}

static void put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	must(file >= 0 && write(file, text, strlen(text)) > 0, path);
	close(file);
}

/* A FUSE daemon of one file, that never answers who reads it. */
static void *serve(void *unused)
{
	static char request[1 << 20];
	for (;;) {
		ssize_t got = read(fuse, request, sizeof request);
		struct fuse_in_header *in = (struct fuse_in_header *)request;
		if (got < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (got < (ssize_t)sizeof *in)
			return unused;
		struct {
			struct fuse_out_header head;
			union {
				struct fuse_init_out init;
				struct fuse_entry_out entry;
				struct fuse_attr_out attr;
				struct fuse_open_out open;
				struct fuse_statfs_out statfs;
			};
		} out = { 0 };
		size_t size = 0;
		int root = in->opcode == FUSE_GETATTR && in->nodeid == FUSE_ROOT_ID;
		struct fuse_attr attr = { .ino = root ? 1 : 2,
					  .size = BYTES,
					  .mode = root ? S_IFDIR | 0755 : S_IFREG | 0644,
					  .nlink = 1,
					  .blksize = PAGE };
		switch (in->opcode) {
		case FUSE_INIT:
			out.init.major = FUSE_KERNEL_VERSION;
			out.init.minor = 31;
			out.init.max_write = PAGE;
			size = sizeof out.init;
			break;
		case FUSE_LOOKUP:
			out.entry.nodeid = 2;
			out.entry.entry_valid = out.entry.attr_valid = 1000;
			out.entry.attr = attr;
			size = sizeof out.entry;
			break;
		case FUSE_GETATTR:
			out.attr.attr_valid = 1000;
			out.attr.attr = attr;
			size = sizeof out.attr;
			break;
		case FUSE_OPEN:
		case FUSE_OPENDIR:
			size = sizeof out.open;
			break;
		case FUSE_STATFS:
			out.statfs.st.bsize = PAGE;
			out.statfs.st.namelen = 255;
			size = sizeof out.statfs;
			break;
		case FUSE_RELEASE:
		case FUSE_RELEASEDIR:
			break;
		case FUSE_READ:
			puts("asked");
			/* fall through */
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
			continue;
		default:
			out.head.error = -ENOSYS;
		}
		out.head.unique = in->unique;
		out.head.len = sizeof out.head + size;
		if (write(fuse, &out, out.head.len) < 0 && errno != ENOENT)
			return unused;
	}
}

static void *handle_faults(void *unused)
{
	struct uffd_msg message;
	while (read(faults, &message, sizeof message) == sizeof message)
		puts("asked");
	return unused;
}

static void start(void *(*body)(void *))
{
	pthread_t thread;
	must(!pthread_create(&thread, NULL, body, NULL), "pthread_create");
}

/* What opens /dev/fuse is the namespace that mounts: most distributions let everybody. */
static void become_user(void)
{
	if (geteuid() == 0) {
		must(!unshare(CLONE_NEWNS), "unshare");
		must(!mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
		must(!mount("own", "/tmp", "tmpfs", 0, "mode=777"), "tmpfs");
		mknod("/tmp/fuse", S_IFCHR, makedev(10, 229));
		chmod("/tmp/fuse", 0666);
		must(!setgroups(0, NULL) && !setresgid(USER, USER, USER) &&
			     !setresuid(USER, USER, USER),
		     "setresuid");
		prctl(PR_SET_DUMPABLE, 1);
	}
}

static int fuse_file(int overlaid)
{
	char text[100];
	snprintf(text, sizeof text, "0 %d 1", geteuid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		exit(77);
	put("/proc/self/setgroups", "deny");
	put("/proc/self/uid_map", text);
	put("/proc/self/gid_map", text);
	fuse = open("/tmp/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		exit(77);
	must(!mkdir("/tmp/f", 0755) && !mkdir("/tmp/e", 0755) && !mkdir("/tmp/o", 0755), "mkdir");
	snprintf(text, sizeof text, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	must(!mount("served", "/tmp/f", "fuse", MS_NOSUID | MS_NODEV, text), "mount fuse");
	/* not before: nothing can be read of a device that is not mounted */
	start(serve);
	if (overlaid &&
	    mount("overlay", "/tmp/o", "overlay", 0, "lowerdir=/tmp/f:/tmp/e,userxattr"))
		exit(77);
	int file = open(overlaid ? "/tmp/o/file" : "/tmp/f/file", O_RDONLY);
	/* The answer to the first flush is that there is none: else this process could not end. */
	must(file >= 0 && !close(dup(file)), "open on fuse");
	return file;
}

static int shared;

/* its memory is anonymous and the file's in turn */
static void *remap(void *unused)
{
	for (;;) {
		volatile char *p = map(memory, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
		p[PAGE] = 1;
		map(memory, MAP_PRIVATE | MAP_FIXED, shared);
	}
	return unused;
}

static void *stand(void *unused)
{
	char *sp = memory + PAGE + 512;
	tid = syscall(SYS_gettid);
	if (busy)
		__asm__ volatile("mov %0, %%rsp; 1: pause; jmp 1b" ::"r"(sp));
	else
		__asm__ volatile(
			"mov %0, %%rsp; 1: mov $34, %%eax; syscall /* pause */; jmp 1b" ::"r"(sp));
	return unused;
}

static char *find_vvar(void)
{
	char line[400];
	unsigned long start = 0, end;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, "[vvar]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			break;
	return (char *)start;
}

static int own_file(void)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	must(file >= 0 && filler[0], "own file");
	return file;
}

static int of_uffd(void)
{
	int file = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	if (file < 0 || ioctl(file, UFFDIO_API, &api))
		exit(77);
	return file;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	const int own = MAP_PRIVATE | MAP_ANONYMOUS;

	busy = argc > 2 && !strcmp(argv[2], "busy");
	alarm(60);
	/* Whoever faults on this memory holds mmap_lock: to speak must need no new memory. */
	static char text[1024];
	setvbuf(stdout, text, _IOLBF, sizeof text);
	if (!strcmp(kind, "userfaultfd"))
		faults = of_uffd();
	become_user();
	if (!strcmp(kind, "anonymous") || !strcmp(kind, "none")) {
		memory = map(NULL, own, -1);
		fill();
		if (*kind == 'n')
			must(!mprotect(memory, bytes, PROT_NONE), "mprotect");
	} else if (!strcmp(kind, "untouched")) {
		memory = map(NULL, own, -1);
	} else if (!strcmp(kind, "huge")) {
		bytes = 2 * HUGE;
		memory = map(NULL, own, -1);
		memory += -(uintptr_t)memory % HUGE;
		bytes = HUGE;
		if (madvise(memory, bytes, MADV_HUGEPAGE))
			exit(77);
		fill();
	} else if (!strcmp(kind, "hugetlb")) {
		bytes = HUGE;
		memory = map(NULL, own | MAP_HUGETLB, -1);
		fill();
	} else if (!strcmp(kind, "memfd")) {
		int file = memfd_create("stack", MFD_CLOEXEC);
		must(file >= 0 && !ftruncate(file, BYTES), "memfd_create");
		memory = map(NULL, MAP_SHARED, file);
		fill();
	} else if (!strcmp(kind, "written")) {
		memory = map(NULL, MAP_PRIVATE, own_file());
		fill();
	} else if (!strcmp(kind, "unread")) {
		memory = map(NULL, MAP_PRIVATE, own_file());
	} else if (!strcmp(kind, "vvar")) {
		memory = find_vvar() - PAGE;
	} else if (!strcmp(kind, "userfaultfd")) {
		memory = map(NULL, own, -1);
		struct uffdio_register wanted = { .range = { (uintptr_t)memory, bytes },
						  .mode = UFFDIO_REGISTER_MODE_MISSING };
		must(!ioctl(faults, UFFDIO_REGISTER, &wanted), "userfaultfd");
		start(handle_faults);
	} else if (!strcmp(kind, "fuse") || !strcmp(kind, "overlay") || !strcmp(kind, "remap")) {
		shared = fuse_file(*kind == 'o');
		memory = map(NULL, MAP_PRIVATE, shared);
		if (*kind == 'r')
			start(remap);
	} else {
		fprintf(stderr, "no such memory: %s\n", kind);
		return 2;
	}
	start(stand);
	while (!tid)
		sched_yield();
	usleep(100000);
	printf("%ld %lu\nready\n", tid, (unsigned long)memory + PAGE + 512);
	struct pollfd end = { .fd = 0, .events = POLLIN };
	poll(&end, 1, -1);
	_exit(0);
}
