/* SPDX-License-Identifier: MIT
 *
 * The layout is that of CUDA 13.0 (e_ident[EI_ABIVERSION] 8). `.nv.info`, and `.nv.info.KERNEL` for
 * one kernel, hold records {u8 format, u8 attribute, ...}: formats 1 to 3 have a value of two
 * bytes, format 4 has a u16 size and a payload. NVIDIA's headers call the attributes EIATTR_*.
 */
#include "compile/cubin.h"

#include <elf.h>
#include <string.h>

enum {
	MACHINE_CUDA = 190,      /* EM_CUDA */
	SYMBOL_IS_KERNEL = 0x10, /* flag in st_other (STO_CUDA_ENTRY) */
	FORMAT_SIZED = 4,
	ATTRIBUTE_THREADS = 0x10,   /* format 4: block size as u32 x, y, z */
	ATTRIBUTE_STACK = 0x11,     /* format 4, for all kernels: u32 symbol, u32 bytes */
	ATTRIBUTE_REGISTERS = 0x2f, /* format 4, for all kernels: u32 symbol, u32 registers */
	/* format 4: u32, u16 ordinal, u16 offset, u32 that contains the size */
	ATTRIBUTE_PARAM = 0x17,
	ATTRIBUTE_PARAM_BYTES = 0x19, /* value: bytes of all parameters; absent if there are none */
	PARAM_BYTES_SHIFT = 18,
};

static bool within(const struct cubin *cubin, uint64_t at, uint64_t size)
{
	return at <= cubin->size && size <= cubin->size - at;
}

static bool section_read(const struct cubin *cubin, size_t index, Elf64_Shdr *section)
{
	if (index >= cubin->section_count)
		return false;
	memcpy(section, cubin->data + cubin->sections_at + index * sizeof(*section),
		sizeof(*section));
	return section->sh_type == SHT_NOBITS ||
	       within(cubin, section->sh_offset, section->sh_size);
}

/* Returns NULL if the string does not end within the table. */
static const char *table_string(const struct cubin *cubin, const Elf64_Shdr *table, uint64_t offset)
{
	const char *string = offset < table->sh_size
				     ? (const char *)cubin->data + table->sh_offset + offset
				     : NULL;

	return string && memchr(string, '\0', table->sh_size - offset) ? string : NULL;
}

static bool section_find(
	const struct cubin *cubin, const char *prefix, const char *rest, Elf64_Shdr *section)
{
	size_t prefix_length = strlen(prefix);

	for (size_t i = 1; i < cubin->section_count; i++) {
		const char *name;

		if (!section_read(cubin, i, section))
			continue;
		name = table_string(cubin, &cubin->names, section->sh_name);
		if (name && strncmp(name, prefix, prefix_length) == 0 &&
			strcmp(name + prefix_length, rest) == 0)
			return true;
	}
	return false;
}

/* Skips NOBITS sections, which have no bytes in the file. */
static bool table_find(const struct cubin *cubin, const char *name, Elf64_Shdr *section)
{
	return section_find(cubin, name, "", section) && section->sh_type != SHT_NOBITS;
}

static enum status header_read(struct cubin *cubin, struct error *err)
{
	Elf64_Ehdr header;

	if (cubin->size < sizeof(header))
		return error_set(err, STATUS_FAILED, "cubin: %zu bytes are too few for an ELF file",
			cubin->size);
	memcpy(&header, cubin->data, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
		header.e_machine != MACHINE_CUDA)
		return error_set(
			err, STATUS_FAILED, "cubin: this is not a 64-bit ELF file for CUDA");
	if (header.e_shentsize != sizeof(Elf64_Shdr) ||
		!within(cubin, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
		return error_set(err, STATUS_FAILED,
			"cubin: the %u section headers are outside the file of %zu bytes",
			header.e_shnum, cubin->size);
	cubin->sections_at = (size_t)header.e_shoff;
	cubin->section_count = header.e_shnum;
	if (!section_read(cubin, header.e_shstrndx, &cubin->names) ||
		cubin->names.sh_type != SHT_STRTAB)
		return error_set(err, STATUS_FAILED,
			"cubin: section %u should hold the section names, but it does not",
			header.e_shstrndx);
	return STATUS_OK;
}

bool cubin_is_for(const void *data, size_t size, int compute_capability)
{
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	/* CUDA up to version 12 uses the low byte, later versions the next one */
	return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == MACHINE_CUDA &&
	       ((int)(header.e_flags & 0xff) == compute_capability ||
		       (int)(header.e_flags >> 8 & 0xff) == compute_capability);
}

enum status cubin_open(struct cubin *cubin, const void *data, size_t size, struct error *err)
{
	*cubin = (struct cubin){.data = data, .size = size};
	TRY(header_read(cubin, err));
	if (!table_find(cubin, ".symtab", &cubin->symbols) ||
		!table_find(cubin, ".strtab", &cubin->strings))
		return error_set(
			err, STATUS_FAILED, "cubin: the section .symtab or .strtab is missing");
	return STATUS_OK;
}

static size_t symbol_count(const struct cubin *cubin)
{
	return cubin->symbols.sh_size / sizeof(Elf64_Sym);
}

static const char *symbol_read(const struct cubin *cubin, size_t index, Elf64_Sym *symbol)
{
	memcpy(symbol, cubin->data + cubin->symbols.sh_offset + index * sizeof(*symbol),
		sizeof(*symbol));
	return table_string(cubin, &cubin->strings, symbol->st_name);
}

static const char *kernel_symbol(const struct cubin *cubin, size_t index)
{
	Elf64_Sym symbol;
	const char *name = symbol_read(cubin, index, &symbol);

	return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & SYMBOL_IS_KERNEL)
		       ? name
		       : NULL;
}

const char *cubin_kernel_name(const struct cubin *cubin, size_t index)
{
	for (size_t i = 0; i < symbol_count(cubin); i++) {
		const char *name = kernel_symbol(cubin, i);

		if (name && index-- == 0)
			return name;
	}
	return NULL;
}

static bool variable_symbol(
	const struct cubin *cubin, size_t index, struct cubin_variable *variable)
{
	Elf64_Sym symbol;
	Elf64_Shdr section;
	const char *place;

	variable->name = symbol_read(cubin, index, &symbol);
	if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT ||
		!section_read(cubin, symbol.st_shndx, &section))
		return false;
	place = table_string(cubin, &cubin->names, section.sh_name);
	if (!place)
		return false;
	variable->is_constant = string_starts_with(place, ".nv.constant");
	if (!variable->is_constant && strcmp(place, ".nv.global") != 0 &&
		strcmp(place, ".nv.global.init") != 0)
		return false;
	variable->bytes = symbol.st_size;
	variable->is_zeroed = section.sh_type == SHT_NOBITS;
	return variable->name && variable->name[0];
}

bool cubin_variable_at(const struct cubin *cubin, size_t index, struct cubin_variable *variable)
{
	for (size_t i = 0; i < symbol_count(cubin); i++)
		if (variable_symbol(cubin, i, variable) && index-- == 0)
			return true;
	return false;
}

/* In a mangled name, the length precedes each part: _ZN1a1bE, or _ZL1b with internal linkage. */
void cubin_append_demangled(const char *name, struct text *text)
{
	const size_t start = text->length;
	const bool is_nested = string_starts_with(name, "_ZN");
	const char *c = name + (is_nested ? 3 : 2);

	if (!is_nested && !string_starts_with(name, "_ZL")) {
		text_append(text, name);
		return;
	}
	while (*c && *c != 'E') {
		char *part;
		const size_t length = strtoul(c + (*c == 'L'), &part, 10);

		if (!length || length > strlen(part)) {
			text_cut(text, start);
			text_append(text, name);
			return;
		}
		text_append(text, text->length > start ? "::" : "");
		text_append_bytes(text, part, length);
		c = part + length;
	}
}

static void param_read(const unsigned char *payload, struct cubin_kernel *kernel)
{
	uint16_t ordinal;
	uint32_t word;

	memcpy(&ordinal, payload + 4, sizeof(ordinal));
	memcpy(&word, payload + 8, sizeof(word));
	if (kernel->param_count < 0)
		kernel->param_count = 0;
	if (ordinal >= CUBIN_PARAMS_MAX)
		return;
	kernel->param_bytes[ordinal] = word >> PARAM_BYTES_SHIFT;
	if (kernel->param_count <= ordinal)
		kernel->param_count = ordinal + 1;
}

struct info_record {
	unsigned char attribute;
	bool is_sized;
	uint16_t value; /* payload size in bytes (format 4) */
	const unsigned char *payload;
};

/* Reads the next record. Returns false at the end, or if the format is unknown. */
static bool info_next(const struct cubin *cubin, const Elf64_Shdr *section, size_t *at,
	struct info_record *record)
{
	const unsigned char *bytes = cubin->data + section->sh_offset + *at;
	const size_t left = (size_t)section->sh_size - *at;
	size_t size = 4;

	if (left < size)
		return false;
	memcpy(&record->value, bytes + 2, sizeof(record->value));
	record->attribute = bytes[1];
	record->is_sized = bytes[0] == FORMAT_SIZED;
	record->payload = bytes + 4;
	size += record->is_sized ? record->value : 0;
	if (bytes[0] == 0 || bytes[0] > FORMAT_SIZED || size > left)
		return false;
	*at += size;
	return true;
}

static uint32_t info_read(
	const struct cubin *cubin, const Elf64_Shdr *section, struct cubin_kernel *kernel)
{
	struct info_record record;
	uint32_t bytes = 0;

	for (size_t at = 0; info_next(cubin, section, &at, &record);) {
		if (record.attribute == ATTRIBUTE_PARAM && record.is_sized && record.value >= 12)
			param_read(record.payload, kernel);
		if (record.attribute == ATTRIBUTE_PARAM_BYTES && !record.is_sized)
			bytes = record.value;
	}
	return bytes;
}

/* Discards sizes that contradict the total. */
static void params_check(
	const struct cubin *cubin, const char *name, uint32_t bytes, struct cubin_kernel *kernel)
{
	Elf64_Shdr constants; /* section of the parameters, which every kernel has */
	uint32_t sum = 0;

	if (kernel->param_count < 0 && !bytes &&
		section_find(cubin, ".nv.constant0.", name, &constants))
		kernel->param_count = 0;
	for (int32_t i = 0; i < kernel->param_count; i++) {
		sum += kernel->param_bytes[i];
		if (!kernel->param_bytes[i])
			sum = UINT32_MAX / 2;
	}
	if (sum > bytes)
		kernel->param_count = -1;
}

/* Returns SIZE_MAX if there is no such kernel. */
static size_t kernel_find(const struct cubin *cubin, const char *name)
{
	for (size_t i = 0; i < symbol_count(cubin); i++) {
		const char *found = kernel_symbol(cubin, i);

		if (found && strcmp(found, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

bool cubin_has_kernel(const struct cubin *cubin, const char *name)
{
	return kernel_find(cubin, name) != SIZE_MAX;
}

bool cubin_kernel_find(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel)
{
	Elf64_Shdr section;

	*kernel = (struct cubin_kernel){.param_count = -1};
	if (!cubin_has_kernel(cubin, name))
		return false;
	if (section_find(cubin, ".nv.info.", name, &section) && section.sh_type != SHT_NOBITS)
		params_check(cubin, name, info_read(cubin, &section, kernel), kernel);
	return true;
}

static int32_t word_at(const unsigned char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word > INT32_MAX ? INT32_MAX : (int32_t)word;
}

/* Returns the threads of a block, or 0 if that exceeds every GPU. */
static int32_t block_threads(const unsigned char *payload)
{
	int64_t threads = 1;

	for (size_t i = 0; i < 3; i++) {
		threads *= word_at(payload + 4 * i);
		if (threads > UINT16_MAX)
			return 0;
	}
	return (int32_t)threads;
}

void cubin_resources(
	const struct cubin *cubin, const char *name, struct kernel_resources *resources)
{
	const size_t symbol = kernel_find(cubin, name);
	struct info_record record;
	Elf64_Shdr section;

	if (symbol == SIZE_MAX)
		return;
	if (table_find(cubin, ".nv.info", &section))
		for (size_t at = 0; info_next(cubin, &section, &at, &record);) {
			if (!record.is_sized || record.value < 8 ||
				(size_t)word_at(record.payload) != symbol)
				continue;
			if (record.attribute == ATTRIBUTE_REGISTERS)
				resources->regs_per_thread = word_at(record.payload + 4);
			if (record.attribute == ATTRIBUTE_STACK)
				resources->stack_bytes = word_at(record.payload + 4);
		}
	if (section_find(cubin, ".nv.info.", name, &section) && section.sh_type != SHT_NOBITS)
		for (size_t at = 0; info_next(cubin, &section, &at, &record);)
			if (record.attribute == ATTRIBUTE_THREADS && record.is_sized &&
				record.value >= 12)
				resources->threads_per_block = block_threads(record.payload);
	resources->smem_static_bytes = 0;
	if (section_find(cubin, ".nv.shared.", name, &section))
		resources->smem_static_bytes =
			section.sh_size > INT32_MAX ? INT32_MAX : (int32_t)section.sh_size;
	if (resources->stack_bytes > 0)
		resources->flags |= FLAG_MASK(SPILLS);
}

const char *const cubin_instruction_names[CUBIN_INSTRUCTIONS] = {
	"HMMA", "QMMA", "HGMMA", "QGMMA", "UTCHMMA", "UTCQMMA", "LDGSTS", "UTMALDG", "UTMASTG"};

/* The lowest nine of an instruction's 128 bits encode its operation, which for tcgen05 is the same
 * for all types. The encoding is undocumented; nvdisasm shows these codes for sm_80 to sm_120. */
void cubin_instructions(
	const struct cubin *cubin, const char *name, uint32_t counts[CUBIN_INSTRUCTIONS])
{
	enum {
		SIZE = 16
	};
	static const struct {
		uint32_t code, type;
	} operations[CUBIN_INSTRUCTIONS] = {{0x03c, 0}, {0x07a, 0}, {0x1f0, 0}, {0x1f3, 0},
		{0x1ea, 0}, {0x1ea, 3}, {0x1ae, 0}, {0x1b4, 0}, {0x1b5, 0}};
	Elf64_Shdr section;

	memset(counts, 0, CUBIN_INSTRUCTIONS * sizeof(*counts));
	if (!section_find(cubin, ".text.", name, &section) || section.sh_type == SHT_NOBITS)
		return;
	for (size_t at = 0; at + SIZE <= section.sh_size; at += SIZE) {
		const unsigned char *bytes = cubin->data + section.sh_offset + at;
		const uint32_t code = (bytes[0] | (uint32_t)bytes[1] << 8) & 0x1ff;
		const uint32_t type = code == 0x1ea ? bytes[9] & 3 : 0;

		for (size_t i = 0; i < CUBIN_INSTRUCTIONS; i++)
			counts[i] += operations[i].code == code && operations[i].type == type;
	}
}
