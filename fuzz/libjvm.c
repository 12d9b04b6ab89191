// SPDX-License-Identifier: Apache-2.0
// A library that tells of itself as HotSpot does, of an interpreter, of flags and of one compiled method with a line, and has nothing else of a JVM.
#include <stddef.h>
#include <stdint.h>

struct field {
	const char *type, *field;
	uint64_t offset;
	void *address;
};

struct type {
	const char *name;
	uint64_t size;
};

struct constant {
	const char *name;
	uint64_t value;
};

struct flag {
	const char *name;
	void *value;
};

static char interpreter[4096], off[8];
static struct {
	void *buffer;
	uint64_t limit;
} queue = { interpreter, sizeof(interpreter) };
static void *queue_place = &queue, *stub = interpreter + 8;
static struct flag flags[] = { { "PreserveFramePointer", off },
			       { "DisableAttachMechanism", off },
			       { "ReduceSignalUsage", off } };
static struct flag *flags_place = flags;
static uint64_t count = sizeof(flags) / sizeof(*flags);

// One method, `a.B.run`, in a heap of eight segments.
static struct {
	uint16_t length;
	char body[6];
} class_name = { 3, "a/B" }, method_name = { 3, "run" }, file_name = { 6, "B.java" };
static struct {
	void *name;
} class = { &class_name };
static struct {
	void *holder;
	uint32_t length, file_index;
	void *constants[3];
} pool = { &class, 3, 2, { 0, &method_name, &file_name } };
static struct {
	void *constants;
	uint16_t code_size, name_index, flags, unused;
	// One byte of code, and the table: line 10 at 0.
	unsigned char code[8];
} const_method = { &pool, 1, 1, 1, 0, { 0, 0xff, 0, 20, 0 } };
static struct {
	void *const_method;
} method = { &const_method };
static void *metadata[] = { &method };
static struct {
	int32_t at, scope, unused[2];
	unsigned char scopes[4];
} immutable = { 5, 1, { 0 }, { 0, 0, 1, 1 } };
static struct {
	char block[16];
	const char *name;
	int32_t frame_size, complete, number, orig_pc;
	void *begin, *end, *method, *entry, *deopt, *immutable, *metadata;
	int32_t relocation, pcs_from, pcs_to, unused;
	unsigned char code[64];
} heap = { .name = "nmethod",
	   .frame_size = 2,
	   .begin = heap.code,
	   .end = heap.code + 64,
	   .method = &method,
	   .entry = heap.code,
	   .deopt = heap.code + 63,
	   .immutable = &immutable,
	   .metadata = metadata,
	   .pcs_to = offsetof(__typeof__(immutable), scopes),
	   .code = { 0x55, 0x48, 0x83, 0xec, 0x08, 0x90, 0x5d, 0xc3 } };
void *code = heap.code;
static unsigned char segments[8] = { 0, 1 };
static struct {
	struct {
		void *low, *high;
	} memory, segments;
	uint64_t shift;
} code_heap = { { &heap, heap.code + 64 }, { segments, segments + 8 }, 7 };
static void *code_heaps[] = { &code_heap };
static struct {
	uint64_t length;
	void *data;
} heaps = { 1, code_heaps };
static void *heaps_place = &heaps;

#define BLOB(member) (offsetof(__typeof__(heap), member) - sizeof(heap.block))

static struct field fields[] = { { "AbstractInterpreter", "_code", 0, &queue_place },
				 { "StubQueue", "_stub_buffer", 0, 0 },
				 { "StubQueue", "_buffer_limit", 8, 0 },
				 { "StubRoutines", "_call_stub_return_address", 0, &stub },
				 { "JVMFlag", "flags", 0, &flags_place },
				 { "JVMFlag", "numFlags", 0, &count },
				 { "JVMFlag", "_name", 0, 0 },
				 { "JVMFlag", "_addr", 8, 0 },
				 { "CodeCache", "_heaps", 0, &heaps_place },
				 { "GrowableArrayBase", "_len", 0, 0 },
				 { "GrowableArray<int>", "_data", 8, 0 },
				 { "CodeHeap", "_memory", 0, 0 },
				 { "CodeHeap", "_segmap", 16, 0 },
				 { "CodeHeap", "_log2_segment_size", 32, 0 },
				 { "VirtualSpace", "_low_boundary", 0, 0 },
				 { "VirtualSpace", "_high_boundary", 8, 0 },
				 { "CodeBlob", "_name", BLOB(name), 0 },
				 { "CodeBlob", "_frame_size", BLOB(frame_size), 0 },
				 { "CodeBlob", "_frame_complete_offset", BLOB(complete), 0 },
				 { "CodeBlob", "_code_begin", BLOB(begin), 0 },
				 { "CodeBlob", "_code_end", BLOB(end), 0 },
				 { "CodeBlob", "_mutable_data", BLOB(metadata), 0 },
				 { "CodeBlob", "_relocation_size", BLOB(relocation), 0 },
				 { "nmethod", "_method", BLOB(method), 0 },
				 { "nmethod", "_compile_id", BLOB(number), 0 },
				 { "nmethod", "_verified_entry_point", BLOB(entry), 0 },
				 { "nmethod", "_deopt_handler_begin", BLOB(deopt), 0 },
				 { "nmethod", "_orig_pc_offset", BLOB(orig_pc), 0 },
				 { "nmethod", "_immutable_data", BLOB(immutable), 0 },
				 { "nmethod", "_scopes_pcs_offset", BLOB(pcs_from), 0 },
				 { "nmethod", "_scopes_data_offset", BLOB(pcs_to), 0 },
				 { "Method", "_constMethod", 0, 0 },
				 { "ConstMethod", "_constants", 0, 0 },
				 { "ConstMethod", "_code_size", 8, 0 },
				 { "ConstMethod", "_name_index", 10, 0 },
				 { "ConstMethod", "_flags", 12, 0 },
				 { "ConstantPool", "_length", 8, 0 },
				 { "ConstantPool", "_pool_holder", 0, 0 },
				 { "ConstantPool", "_source_file_name_index", 12, 0 },
				 { "Klass", "_name", 0, 0 },
				 { "Symbol", "_length", 0, 0 },
				 { "Symbol", "_body", 2, 0 },
				 { 0, 0, 0, 0 } };
static struct type types[] = { { "JVMFlag", sizeof(struct flag) },
			       { "HeapBlock", sizeof(heap.block) },
			       { "nmethod", sizeof(heap) - sizeof(heap.block) - sizeof(heap.code) },
			       { "ConstMethod", offsetof(__typeof__(const_method), code) },
			       { "ConstantPool", offsetof(__typeof__(pool), constants) },
			       { 0, 0 } };
static struct constant constants[] = { { "ConstMethod::_has_linenumber_table", 1 }, { 0, 0 } };

// Beside the others even where it is 0: whoever copies the memory may leave out what is all zeros at its end.
#define DATA __attribute__((section(".data")))

struct field *gHotSpotVMStructs = fields;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct field);
uint64_t gHotSpotVMStructEntryTypeNameOffset DATA = 0;
uint64_t gHotSpotVMStructEntryFieldNameOffset = 8;
uint64_t gHotSpotVMStructEntryOffsetOffset = 16;
uint64_t gHotSpotVMStructEntryAddressOffset = 24;
struct type *gHotSpotVMTypes = types;
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type);
uint64_t gHotSpotVMTypeEntryTypeNameOffset DATA = 0;
uint64_t gHotSpotVMTypeEntrySizeOffset = 8;
struct constant *gHotSpotVMIntConstants = constants;
uint64_t gHotSpotVMIntConstantEntryArrayStride = sizeof(struct constant);
uint64_t gHotSpotVMIntConstantEntryNameOffset DATA = 0;
uint64_t gHotSpotVMIntConstantEntryValueOffset = 8;
