/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a pass copies memory of another process.
 *
 * A page fault may wait for anybody: a disk, a server, the daemon of a FUSE file, the handler of a userfaultfd. So the copy makes
 * no page fault. It holds mmap_lock and finds each page by the page tables of the process, in the processor's format, and reads
 * the page in the kernel's own mapping of all memory. A page that is not in memory is not copied. If a table goes away
 * meanwhile, it leads to another page or to none: such a copy is wrong or fails, and does no harm.
 *
 * Where the kernel's memory may not be read by its address, a fault brings the page, but only in mappings that no other
 * process serves.
 */
#ifndef FLAMETOP_MEMORY_H
#define FLAMETOP_MEMORY_H

#include "kernel.h"

#define MEMORY_BYTES (32 * 1024)
#define PAGE         4096ULL
#define GIB          (1ULL << 30)

/* Entries of page tables. */
#define ENTRY_PRESENT 0x01
#define ENTRY_LARGE   0x80
/* Linux: the page is in memory, but an access is to fault (NUMA balancing); the address is inverted. Entries of swap never have it. */
#define ENTRY_PROTNONE 0x100
/* 128 TiB; the bits above are of memory encryption and others */
#define ENTRY_ADDRESS 0x00007ffffffff000ULL

/* the result of `page_of` where there is no page */
#define PAGE_ABSENT    0
#define PAGE_UNTOUCHED 1

/* The kernel's mapping of all memory starts at a multiple of 1 GiB, and any page table lies as far above that as memory lies below the table. */
#define MOST_GIB (1 << 16)

/* set before load: the kernel's memory may be read by its address */
const volatile __u32 reads_kernel = 1;
__u64 all_memory; /* where the kernel's mapping of all memory starts; 0: not known */

/* The search for `all_memory`: the right start is the one by which these words are found at this address of the process that reads. */
__u64 trial; /* 0: no search */
__u64 trial_words[2];

/* the bytes that were copied */
__u8 memory[MEMORY_BYTES] __attribute__((aligned(8)));
const __u8 untouched[PAGE];

/* one copy at a time */
struct copying {
	__u64 address, most; /* the bytes that are wanted */
	__u64 room;          /* bytes that have room */
	__u64 place;         /* in `memory` */
	__u64 tables;        /* of its process */
	__u64 start, end;    /* of its mapping */
	__u64 bytes; /* bytes copied, or that a fault may bring; a multiple of 8, so that records stay aligned */
	__u32 nothing; /* the status if nothing could be copied */
	__u32 status; /* `nothing`, and FT_ABSENT: the copy ended at a page that is not in memory, or may not be waited for */
	bool full;    /* there was no room, in this copy or an earlier one */
};
struct copying copying;

/* where this byte of user memory is in the kernel's mapping of all memory */
__attribute__((noinline)) __u64 page_of(__u64 address)
{
	__u64 table = copying.tables, entry = 0;
	/* with five levels the kernel's half begins lower */
	__u32 shift = all_memory >> 47 == 0x1ffff ? 39 : 48;

	/* a global function is verified even if nothing calls it */
	if (!reads_kernel)
		return PAGE_ABSENT;
	/* the other half of the table is the kernel's */
	if (address >> (shift + 8))
		return PAGE_ABSENT;
	for (int level = 0; level < 5; level++) {
		__u64 offset = address & ((1ULL << shift) - 1);
		bool leaf;

		if (bpf_probe_read_kernel(&entry, sizeof(entry),
					  (void *)(table + (address >> shift) % 512 * 8)))
			return PAGE_ABSENT;
		if (!entry)
			return PAGE_UNTOUCHED;
		leaf = shift == 12 || (shift <= 30 && entry & ENTRY_LARGE);
		if (!(entry & ENTRY_PRESENT)) {
			if (!leaf || !(entry & ENTRY_PROTNONE))
				return PAGE_ABSENT;
			entry = ~entry;
		}
		entry &= ENTRY_ADDRESS;
		if (leaf)
			return all_memory + (entry & ~((1ULL << shift) - 1)) + offset;
		table = all_memory + entry;
		shift -= 9;
	}
	return PAGE_ABSENT;
}

static long try_memory(__u32 i, void *unused __attribute__((unused)))
{
	__u64 words[2] = {}, page;

	all_memory = (copying.tables & ~(GIB - 1)) - i * GIB;
	page = page_of(trial);
	if (page > PAGE_UNTOUCHED && !bpf_probe_read_kernel(words, sizeof(words), (void *)page) &&
	    words[0] == trial_words[0] && words[1] == trial_words[1])
		return 1;
	all_memory = 0;
	return 0;
}

/* looks for `all_memory` by the page tables of `t` */
static __always_inline void find_memory(struct task_struct *t)
{
	if (!reads_kernel || !t->mm || all_memory)
		return;
	*(volatile __u64 *)&copying.tables = (__u64)t->mm->pgd;
	bpf_loop(MOST_GIB, try_memory, NULL, 0);
}

/* whether pages are copied without faults */
static __always_inline bool copies_pages(void)
{
	return reads_kernel && all_memory;
}

/* whether a page fault there may wait for another process, or would read a device */
static __always_inline bool is_served(struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	struct inode *inode;
	__u64 magic;

	if (is_of_device(vma) || has_userfaultfd(vma))
		return 1;
	if (!vma->vm_ops)
		return 0;
	if (!file)
		return 1;
	/* for an overlay, the file below */
	inode = file->f_inode;
	magic = inode->i_sb->s_magic;
	return (inode->i_mode & S_IFMT) != S_IFREG ||
	       (magic != TMPFS_MAGIC && magic != HUGETLBFS_MAGIC);
}

/*
 * Copies page by page, up to the first that is missing.
 *
 * Not static: the verifier checks the function once, rather than for each path to it.
 */
__attribute__((noinline)) int copy_pages(__u64 wanted, bool zeros)
{
	/* the count is in memory, where the verifier does not track values: else it follows each sum of pages */
	volatile __u64 *copied = &copying.bytes;

	if (!reads_kernel)
		return 0;
	for (__u32 i = 0; i < FT_PASS_STACK / PAGE + 1; i++) {
		__u64 done = *copied;
		__u64 at = copying.place + done;
		__u64 from = copying.address + done;
		__u64 n = PAGE - from % PAGE, page;

		if (done >= wanted)
			break;
		if (n > wanted - done)
			n = wanted - done;
		page = page_of(from);
		if (page == PAGE_UNTOUCHED)
			page = zeros ? (__u64)untouched : PAGE_ABSENT;
		asm volatile("" : "+r"(at), "+r"(n));
		if (n > PAGE || at > sizeof(memory) - PAGE)
			break;
		if (page == PAGE_ABSENT || bpf_probe_read_kernel(memory + at, n, (void *)page)) {
			copying.status = done ? FT_ABSENT : FT_ABSENT | copying.nothing;
			break;
		}
		*copied = done + n;
	}
	return 0;
}

/* Whoever includes this file may copy more by `copying.tables`, while the mappings are locked. */
int copy_beside(void);

static long copy_mapped(struct task_struct *t __attribute__((unused)), struct vm_area_struct *vma,
			void *unused __attribute__((unused)))
{
	__u64 wanted;

	copying.start = vma->vm_start;
	copying.end = vma->vm_end;
	wanted = *(volatile __u64 *)&copying.end - copying.address;
	if (wanted > copying.most)
		wanted = copying.most;
	wanted &= ~7ULL;
	if (wanted >= copying.room)
		copying.full = 1;
	if (copying.full)
		return 0;
	if (copies_pages() ? is_of_device(vma) : is_served(vma)) {
		copying.status = FT_ABSENT | copying.nothing;
		return 0;
	}
	if (!copies_pages()) {
		copying.bytes = wanted;
		return 0;
	}
	*(volatile __u64 *)&copying.tables = (__u64)vma->vm_mm->pgd;
	/* anonymous memory that nobody touched is zero */
	copy_pages(wanted, !vma->vm_ops && !has_userfaultfd(vma));
	copy_beside();
	return 0;
}

/*
 * Copies from `address` to the end of its mapping, `most` bytes at most, which is less than `room`, into `memory` from
 * `place` on; `copying` has the result. Returns the error of bpf_find_vma, which only tries mmap_lock.
 */
static __always_inline long copy(struct task_struct *t, __u64 address, __u64 most, __u64 room,
				 __u64 place, __u32 nothing)
{
	copying.address = address;
	copying.most = most;
	copying.room = room;
	copying.place = place;
	copying.nothing = nothing;
	copying.start = copying.end = copying.bytes = 0;
	copying.status = 0;
	return bpf_find_vma(t, address, copy_mapped, NULL, 0);
}

#endif
