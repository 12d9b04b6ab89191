// SPDX-License-Identifier: Apache-2.0
// A library that tells of itself as HotSpot does, of an interpreter and of flags, and has nothing else of a JVM.
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

static struct field fields[] = { { "AbstractInterpreter", "_code", 0, &queue_place },
				 { "StubQueue", "_stub_buffer", 0, 0 },
				 { "StubQueue", "_buffer_limit", 8, 0 },
				 { "StubRoutines", "_call_stub_return_address", 0, &stub },
				 { "JVMFlag", "flags", 0, &flags_place },
				 { "JVMFlag", "numFlags", 0, &count },
				 { "JVMFlag", "_name", 0, 0 },
				 { "JVMFlag", "_addr", 8, 0 },
				 { 0, 0, 0, 0 } };
static struct type types[] = { { "JVMFlag", sizeof(struct flag) }, { 0, 0 } };

struct field *gHotSpotVMStructs = fields;
uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct field);
uint64_t gHotSpotVMStructEntryTypeNameOffset = 0;
uint64_t gHotSpotVMStructEntryFieldNameOffset = 8;
uint64_t gHotSpotVMStructEntryOffsetOffset = 16;
uint64_t gHotSpotVMStructEntryAddressOffset = 24;
struct type *gHotSpotVMTypes = types;
uint64_t gHotSpotVMTypeEntryArrayStride = sizeof(struct type);
uint64_t gHotSpotVMTypeEntryTypeNameOffset = 0;
uint64_t gHotSpotVMTypeEntrySizeOffset = 8;
