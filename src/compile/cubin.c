/* SPDX-License-Identifier: MIT
 *
 * Layout found in cubins of CUDA 13.0 (e_ident[EI_ABIVERSION] 8), names as in NVIDIA's public
 * headers (EIATTR_*): `.nv.info` holds records {u8 format, u8 attribute, ...}; formats 1 to 3 have
 * two bytes of value, format 4 a u16 size and a payload. `.nv.info.KERNEL` holds one kernel's.
 */
#include "compile/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
	MACHINE_CUDA = 190,      /* EM_CUDA */
	SYMBOL_IS_KERNEL = 0x10, /* in st_other: STO_CUDA_ENTRY */
	FORMAT_BYTE = 2,
	FORMAT_SIZED = 4,
	ATTRIBUTE_FRAME_SIZE = 0x11,  /* sized: u32 symbol, u32 bytes */
	ATTRIBUTE_REGS = 0x2f,        /* sized: u32 symbol, u32 count */
	ATTRIBUTE_BARRIERS = 0x4c,    /* byte */
	ATTRIBUTE_PARAM = 0x17,       /* sized: u32, u16 ordinal, u16 offset, u32 with the bytes */
	ATTRIBUTE_PARAM_BYTES = 0x19, /* value: of all, where there are any */
	PARAM_BYTES_SHIFT = 18,
	/* From sm_90 on `.nv.shared.KERNEL` includes the system's 1 KiB per block, and a section
	 * `.nv.shared.reserved.0` says so; before, neither. */
	SMEM_RESERVED_BYTES = 1024,
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

/* The string at `offset` of a table, or NULL if it does not end within the table. */
static const char *table_string(
	const struct cubin *cubin, size_t table_at, size_t table_size, uint64_t offset)
{
	const char *string;

	if (offset >= table_size)
		return NULL;
	string = (const char *)cubin->data + table_at + offset;
	return memchr(string, '\0', table_size - (size_t)offset) ? string : NULL;
}

static bool section_find(
	const struct cubin *cubin, const char *prefix, const char *rest, Elf64_Shdr *section)
{
	size_t prefix_length = strlen(prefix);

	for (size_t i = 1; i < cubin->section_count; i++) {
		const char *name;

		if (!section_read(cubin, i, section))
			continue;
		name = table_string(cubin, cubin->names_at, cubin->names_size, section->sh_name);
		if (name && strncmp(name, prefix, prefix_length) == 0 &&
			strcmp(name + prefix_length, rest) == 0)
			return true;
	}
	return false;
}

/* Tables live in the file: a NOBITS section has no bytes to read. */
static bool table_find(const struct cubin *cubin, const char *name, Elf64_Shdr *section)
{
	return section_find(cubin, name, "", section) && section->sh_type != SHT_NOBITS;
}

static enum status header_read(struct cubin *cubin, struct error *err)
{
	Elf64_Ehdr header;
	Elf64_Shdr names;

	if (cubin->size < sizeof(header))
		return error_set(err, STATUS_FAILED, "cubin: expected an ELF file, found %zu bytes",
			cubin->size);
	memcpy(&header, cubin->data, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
		header.e_machine != MACHINE_CUDA)
		return error_set(err, STATUS_FAILED,
			"cubin: expected a 64-bit ELF file for CUDA, found other bytes");
	if (header.e_shentsize != sizeof(Elf64_Shdr) ||
		!within(cubin, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
		return error_set(err, STATUS_FAILED,
			"cubin: expected %u section headers within %zu bytes, found them outside",
			header.e_shnum, cubin->size);
	cubin->sections_at = (size_t)header.e_shoff;
	cubin->section_count = header.e_shnum;
	if (!section_read(cubin, header.e_shstrndx, &names) || names.sh_type != SHT_STRTAB)
		return error_set(err, STATUS_FAILED,
			"cubin: expected section names, found section %u to be none",
			header.e_shstrndx);
	cubin->names_at = (size_t)names.sh_offset;
	cubin->names_size = (size_t)names.sh_size;
	return STATUS_OK;
}

bool cubin_is_for(const void *data, size_t size, int compute_capability)
{
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	/* the low byte until CUDA 12, the one above it since */
	return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == MACHINE_CUDA &&
	       ((int)(header.e_flags & 0xff) == compute_capability ||
		       (int)(header.e_flags >> 8 & 0xff) == compute_capability);
}

enum status cubin_open(struct cubin *cubin, const void *data, size_t size, struct error *err)
{
	Elf64_Shdr symbols, strings;
	enum status status;

	*cubin = (struct cubin){.data = data, .size = size};
	status = header_read(cubin, err);
	if (status != STATUS_OK)
		return status;
	if (!table_find(cubin, ".symtab", &symbols) || !table_find(cubin, ".strtab", &strings))
		return error_set(
			err, STATUS_FAILED, "cubin: expected .symtab and .strtab, found not both");
	cubin->symbols_at = (size_t)symbols.sh_offset;
	cubin->symbol_count = (size_t)symbols.sh_size / sizeof(Elf64_Sym);
	cubin->strings_at = (size_t)strings.sh_offset;
	cubin->strings_size = (size_t)strings.sh_size;
	return STATUS_OK;
}

/* The name of a symbol that is a kernel, else NULL. */
static const char *kernel_symbol(const struct cubin *cubin, size_t index)
{
	Elf64_Sym symbol;

	memcpy(&symbol, cubin->data + cubin->symbols_at + index * sizeof(symbol), sizeof(symbol));
	if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & SYMBOL_IS_KERNEL))
		return NULL;
	return table_string(cubin, cubin->strings_at, cubin->strings_size, symbol.st_name);
}

const char *cubin_kernel_name(const struct cubin *cubin, size_t index)
{
	for (size_t i = 0; i < cubin->symbol_count; i++) {
		const char *name = kernel_symbol(cubin, i);

		if (name && index-- == 0)
			return name;
	}
	return NULL;
}

static int32_t clamped(uint64_t value)
{
	return value > INT32_MAX ? -1 : (int32_t)value;
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

/* Takes what the records of one section say of the symbol (or, per kernel, of the kernel). */
static void info_read(const struct cubin *cubin, const Elf64_Shdr *section, size_t symbol,
	struct cubin_kernel *kernel)
{
	const unsigned char *at = cubin->data + section->sh_offset;
	size_t left = (size_t)section->sh_size;

	while (left >= 4) {
		uint8_t format = at[0], attribute = at[1];
		uint16_t value;
		uint32_t pair[2];
		size_t size = 4;

		memcpy(&value, at + 2, sizeof(value));
		if (format == FORMAT_SIZED)
			size += value;
		if (format == 0 || format > FORMAT_SIZED || size > left)
			return;
		if (format == FORMAT_SIZED && value >= sizeof(pair)) {
			memcpy(pair, at + 4, sizeof(pair));
			if (attribute == ATTRIBUTE_REGS && pair[0] == symbol)
				kernel->regs_per_thread = clamped(pair[1]);
			if (attribute == ATTRIBUTE_FRAME_SIZE && pair[0] == symbol)
				kernel->stack_bytes = clamped(pair[1]);
			if (attribute == ATTRIBUTE_PARAM && value >= 12)
				param_read(at + 4, kernel);
		} else if (format == FORMAT_BYTE && attribute == ATTRIBUTE_BARRIERS) {
			kernel->barriers = at[2];
		}
		at += size;
		left -= size;
	}
}

/* None where nothing speaks of them; not known where they do not add up to what the section says.
 */
static void params_check(const struct cubin *cubin, const Elf64_Shdr *section, const char *name,
	struct cubin_kernel *kernel)
{
	Elf64_Shdr constants; /* where they lie: every kernel has it */
	const unsigned char *at = cubin->data + section->sh_offset;
	size_t left = (size_t)section->sh_size;
	uint32_t sum = 0, bytes = 0;

	for (uint16_t value; left >= 4;) {
		size_t size;

		memcpy(&value, at + 2, sizeof(value));
		size = at[0] == FORMAT_SIZED ? 4 + (size_t)value : 4;
		if (size > left)
			break;
		if (at[1] == ATTRIBUTE_PARAM_BYTES && at[0] != FORMAT_SIZED)
			bytes = value;
		at += size;
		left -= size;
	}
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

static int32_t smem_static(const struct cubin *cubin, const char *name)
{
	Elf64_Shdr section, reserved;
	uint64_t bytes;

	if (!section_find(cubin, ".nv.shared.", name, &section))
		return 0;
	bytes = section.sh_size;
	if (section_find(cubin, ".nv.shared.reserved.0", "", &reserved))
		bytes = bytes > SMEM_RESERVED_BYTES ? bytes - SMEM_RESERVED_BYTES : 0;
	return clamped(bytes);
}

bool cubin_kernel_find(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel)
{
	for (size_t i = 0; i < cubin->symbol_count; i++) {
		const char *found = kernel_symbol(cubin, i);
		Elf64_Shdr section;

		if (!found || strcmp(found, name) != 0)
			continue;
		*kernel = (struct cubin_kernel){-1, -1, -1, -1, -1, {0}};
		if (table_find(cubin, ".nv.info", &section))
			info_read(cubin, &section, i, kernel);
		if (section_find(cubin, ".nv.info.", name, &section) &&
			section.sh_type != SHT_NOBITS) {
			info_read(cubin, &section, i, kernel);
			params_check(cubin, &section, name, kernel);
		}
		kernel->smem_static_bytes = smem_static(cubin, name);
		return true;
	}
	return false;
}

bool cubin_variable_find(const struct cubin *cubin, const char *name, uint64_t *bytes)
{
	for (size_t i = 0; i < cubin->symbol_count; i++) {
		Elf64_Sym symbol;
		const char *found;

		memcpy(&symbol, cubin->data + cubin->symbols_at + i * sizeof(symbol),
			sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF)
			continue;
		found = table_string(cubin, cubin->strings_at, cubin->strings_size, symbol.st_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*bytes = symbol.st_size;
		return true;
	}
	return false;
}
