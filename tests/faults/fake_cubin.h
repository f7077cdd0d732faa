/* SPDX-License-Identifier: MIT
 *
 * Builds a small cubin with the sections that compile/cubin.c reads, laid out as by CUDA 13.0, for
 * the stand-in NVRTC and for tests of the reader.
 */
#ifndef FAULTS_FAKE_CUBIN_H
#define FAULTS_FAKE_CUBIN_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_kernel {
	char name[64];
	uint32_t regs, stack_bytes, barriers, smem_bytes;
};

enum {
	FAKE_KERNELS_MAX = 16,
	FAKE_CUBIN_SIZE = 32768, /* enough for FAKE_KERNELS_MAX kernels */
};

/* A cubin under construction; its string tables are collected separately. */
struct fake_cubin {
	unsigned char *data;
	size_t size;
	Elf64_Shdr sections[6 + 3 * FAKE_KERNELS_MAX];
	uint16_t section_count;
	char names[4096];
	size_t names_size;
};

static inline void fake_append(struct fake_cubin *cubin, const void *data, size_t size)
{
	if (cubin->size + size > FAKE_CUBIN_SIZE)
		abort();
	memcpy(cubin->data + cubin->size, data, size);
	cubin->size += size;
}

/* Begins a section at the current end. `data` is appended unless it is NULL. */
static inline void fake_section(struct fake_cubin *cubin, const char *name, const char *kernel,
	uint32_t type, const void *data, size_t size)
{
	Elf64_Shdr *section = &cubin->sections[cubin->section_count++];

	section->sh_name = (Elf64_Word)cubin->names_size;
	section->sh_type = type;
	section->sh_offset = cubin->size;
	section->sh_size = size;
	cubin->names_size +=
		(size_t)snprintf(cubin->names + cubin->names_size,
			sizeof(cubin->names) - cubin->names_size, "%s%s", name, kernel) +
		1;
	if (cubin->names_size > sizeof(cubin->names))
		abort();
	if (data)
		fake_append(cubin, data, size);
}

/* Writes a record of {format 4, attribute, size 8, symbol, value}. */
static inline void fake_info(
	uint32_t record[3], uint32_t attribute, uint32_t symbol, uint32_t value)
{
	record[0] = 0x04u | attribute << 8 | 8u << 16;
	record[1] = symbol;
	record[2] = value;
}

/* Writes the cubin to data, which holds FAKE_CUBIN_SIZE bytes. Returns the used size. */
static inline size_t fake_cubin_build(
	unsigned char *data, const struct fake_kernel *kernels, size_t count)
{
	struct fake_cubin cubin = {.data = data, .section_count = 1, .names_size = 1};
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 0x41, 8},
		.e_type = ET_EXEC,
		.e_machine = 190,
		.e_version = 1,
		.e_flags = 0x6005a04,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Sym symbols[1 + FAKE_KERNELS_MAX] = {0};
	uint32_t info[2 * FAKE_KERNELS_MAX][3];
	char strings[1 + 64 * FAKE_KERNELS_MAX] = "";
	size_t strings_size = 1;

	if (count > FAKE_KERNELS_MAX)
		abort();
	fake_append(&cubin, &header, sizeof(header));
	for (uint32_t i = 0; i < count; i++) {
		size_t length = strlen(kernels[i].name) + 1;

		memcpy(strings + strings_size, kernels[i].name, length);
		symbols[1 + i] = (Elf64_Sym){.st_name = (Elf64_Word)strings_size,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_other = 0x10,
			.st_shndx = (Elf64_Half)(5 + 3 * i)};
		strings_size += length;
		fake_info(info[2 * i], 0x2f, 1 + i, kernels[i].regs);
		fake_info(info[2 * i + 1], 0x11, 1 + i, kernels[i].stack_bytes);
	}
	fake_section(&cubin, ".strtab", "", SHT_STRTAB, strings, strings_size);
	fake_section(&cubin, ".symtab", "", SHT_SYMTAB, symbols, (1 + count) * sizeof(*symbols));
	fake_section(&cubin, ".nv.info", "", 0x70000000, info, 2 * count * sizeof(*info));
	fake_section(&cubin, ".nv.shared.reserved.0", "", SHT_NOBITS, NULL, 0);
	for (size_t i = 0; i < count; i++) {
		const unsigned char barriers[4] = {2, 0x4c, (unsigned char)kernels[i].barriers, 0};

		fake_section(&cubin, ".text.", kernels[i].name, SHT_PROGBITS, "", 1);
		fake_section(&cubin, ".nv.info.", kernels[i].name, 0x70000000, barriers,
			sizeof(barriers));
		fake_section(&cubin, ".nv.shared.", kernels[i].name, SHT_NOBITS, NULL,
			1024 + kernels[i].smem_bytes);
	}
	fake_section(&cubin, ".shstrtab", "", SHT_STRTAB, NULL, 0);
	cubin.sections[cubin.section_count - 1].sh_size = cubin.names_size;
	fake_append(&cubin, cubin.names, cubin.names_size);
	header.e_shoff = cubin.size;
	header.e_shnum = cubin.section_count;
	header.e_shstrndx = (Elf64_Half)(cubin.section_count - 1);
	fake_append(&cubin, cubin.sections, cubin.section_count * sizeof(*cubin.sections));
	memcpy(data, &header, sizeof(header));
	return cubin.size;
}

#endif
