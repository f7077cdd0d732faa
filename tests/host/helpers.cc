/* SPDX-License-Identifier: MIT
 *
 * The helper kernels on the CPU (tests/checks/helpers.py): contents for every element type, untouched padding
 * and end, and comparisons with a tensor of the same type.
 */
#include "reference.h"
#include "helpers.h"

enum {
	ROWS = 10,
	COLUMNS = 7,
	LD = 9,
	COUNT = ROWS * COLUMNS,
	TYPES = code_bool + 1
};
static const u32 poison = 0x7dc37dc3u;
static int wrong;

static void expect(bool holds, const char *what, int type)
{
	if (!holds)
		printf("type %d: expected %s\n", type, what);
	wrong += !holds;
}

template <class BODY> static void launch(unsigned threads, BODY body)
{
	static char shared[64];

	host::launch({1, 1, 1}, {threads, 1, 1}, shared, sizeof(shared), false, body);
}

/* A tensor and the memory behind it. */
struct data {
	std::vector<unsigned char> bytes = std::vector<unsigned char>(8 * ROWS * LD + 64, 0x77);
	int type;

	void fill(int contents, double low, double high)
	{
		launch(32, [&] {
			tt_fill(bytes.data(), type, ROWS, COLUMNS, LD, contents, low, high, 42,
				poison);
		});
	}
	double at(int index) const
	{
		return read(bytes.data(), type, index / COLUMNS * LD + index % COLUMNS);
	}
};

/* Large numbers are rare and differ only in sign, the others are small. */
static void check_made(data &x)
{
	const double large = element_bytes(x.type) > 1 ? 32768 : 256;
	int larges = 0, negative = 0, twice = 0;

	x.fill(contents_mixed, large, 1);
	for (int i = 0; i < COUNT; i++) {
		larges += fabs(x.at(i)) == large;
		negative += x.at(i) < 0;
		expect(fabs(x.at(i)) == large || fabs(x.at(i)) <= 1, "large or small", x.type);
	}
	expect(larges < COUNT / 8 && negative > COUNT / 4 && negative < COUNT - COUNT / 4,
		"few large numbers, of both signs", x.type);
	x.fill(contents_signs, 0, 3);
	for (int i = 0; i < COUNT; i++) {
		twice += fabs(x.at(i)) == 6;
		expect(fabs(x.at(i)) == 3 || fabs(x.at(i)) == 6, "one of two sizes", x.type);
	}
	expect(twice > COUNT / 4 && twice < COUNT - COUNT / 4, "as many of each", x.type);
}

static void check_contents(int type)
{
	const int bytes = element_bytes(type);
	const bool is_float = type < code_i32 || type == code_fp64 || type == code_fp8_e5m2;
	const bool is_signed =
		is_float || type == code_i32 || (type >= code_i8 && type <= code_i64);
	/* fp8 has four or five numbers per octave */
	const double coarse = type == fp8_e4m3::code  ? 1.0 / 16
			      : type == code_fp8_e5m2 ? 1.0 / 8
						      : 1.0 / 256;
	data x = {.type = type};
	double mean = 0, least = 1e9, most = -1e9;
	std::vector<int> seen(COUNT);

	x.fill(contents_uniform, is_signed ? -100 : 0, 100);
	for (int i = 0; i < COUNT; i++) {
		mean += x.at(i) / COUNT;
		least = fmin(least, x.at(i));
		most = fmax(most, x.at(i));
	}
	if (type != code_bool)
		expect(least >= (is_signed ? -112 : 0) && least < (is_signed ? -80 : 20) &&
				most > 80 && most <= 112 && fabs(mean - (is_signed ? 0 : 50)) < 20,
			"uniform numbers", type);
	x.fill(contents_normal, 50, 10);
	mean = 0;
	for (int i = 0; i < COUNT; i++)
		mean += x.at(i) / COUNT;
	expect(type == code_bool ? fabs(mean - 1) < 1e-9
				 : fabs(mean - 50) < 5 && x.at(0) != x.at(1),
		"normal numbers", type);
	if (!is_float) {
		const bool is_bool = type == code_bool;

		x.fill(contents_normal, is_bool ? 0.25 : 2.75, 0);
		expect(x.at(0) == (is_bool ? 0 : 3), "the nearest integer", type);
		x.fill(contents_normal, is_signed ? -2.75 : 2.75, 0);
		expect(is_bool || x.at(0) == (is_signed ? -3 : 3), "the nearest integer", type);
	}
	if (is_float)
		check_made(x);
	for (int value = 0; value < 2; value++) {
		x.fill(value ? contents_one : contents_zero, 0, 0);
		for (int i = 0; i < COUNT; i++)
			expect(x.at(i) == value, "0 or 1", type);
	}
	x.fill(contents_iota, 0, 0);
	for (int i = 0; i < COUNT; i++)
		expect(type == code_bool ? x.at(i) == (i > 0) : fabs(x.at(i) - i) <= coarse * i,
			"its index", type);
	for (int row = 0; row < ROWS; row++)
		for (int column = COLUMNS; column < (row + 1 < ROWS ? LD : COLUMNS); column++)
			for (int b = 0; b < bytes; b++)
				expect(x.bytes[(row * LD + column) * bytes + b] ==
						(poison >> 8 * (b & 3) & 0xff),
					"poison", type);
	for (int b = 0; b < 16; b++)
		expect(x.bytes[((ROWS - 1) * LD + COLUMNS) * bytes + b] == 0x77,
			"nothing behind it", type);
	if (bytes < 4 || is_float)
		return;
	x.fill(contents_permutation, 0, 0);
	for (int i = 0; i < COUNT; i++)
		seen[(int)x.at(i)]++;
	for (int i = 0; i < COUNT; i++)
		expect(seen[i] == 1, "each number once", type);
}

static tt_result compared(const data &x, const data &y)
{
	std::vector<i64> units(COUNT);
	tt_result result;

	for (int i = 0; i < COUNT; i++)
		units[i] = i;
	launch(1, [&] { tt_compare_begin(&result); });
	launch(64, [&] {
		tt_compare(x.bytes.data(), x.type, COLUMNS, LD, units.data(), COUNT, 1,
			y.bytes.data(), LD, 0, 0, poison, &result);
	});
	return result;
}

static void check_comparison(int type)
{
	const int bytes = element_bytes(type), place = (LD + 2) * bytes;
	data x = {.type = type}, y;
	tt_result result;

	x.fill(contents_iota, 0, 0);
	y = x;
	expect(compared(x, y).violations == 0, "no difference", type);
	y.bytes[COLUMNS * bytes] ^= 1;
	expect(compared(x, y).violations == 0, "no difference between rows", type);
	y.bytes[place] ^= 1; /* flip the lowest bit */
	result = compared(x, y);
	expect(result.violations == 1 && result.first_bad_linear_index == COLUMNS + 2,
		"one difference", type);
	if (type == code_i64 || type == code_u64) {
		x.bytes[place + 7] = y.bytes[place + 7] = 0x10; /* a difference that doubles do not show */
		expect(compared(x, y).violations == 1, "a difference beyond 2^53", type);
	}
}

/* Offsets and sizes of groups come from the same random draw. */
static void check_groups(double skew)
{
	enum {
		GROUPS = 40,
		TOTAL = 1000
	};
	i32 begin[GROUPS + 1], size[GROUPS], most = 0;

	launch(32, [&] { tt_offsets(begin, GROUPS + 1, TOTAL, skew, 7, 0); });
	launch(32, [&] { tt_offsets(size, GROUPS, TOTAL, skew, 7, 1); });
	expect(begin[0] == 0 && begin[GROUPS] == TOTAL, "all elements", code_i32);
	for (int i = 0; i < GROUPS; i++) {
		expect(size[i] >= 0 && begin[i + 1] - begin[i] == size[i], "a group's size",
			code_i32);
		most = std::max(most, size[i]);
	}
	expect(skew > 0 ? most > TOTAL / 5 : most == TOTAL / GROUPS, "the largest group", code_i32);
}

/* An element that no kernel must write may hold anything; elsewhere NaN is always wrong. */
static void check_anything()
{
	const i64 units[2] = {0, 1};
	double out[2] = {NAN, 3}, expected[2] = {0, 3};
	tt_result result;

	for (int is_anything = 0; is_anything < 2; is_anything++) {
		if (is_anything)
			memcpy(expected, &anything, sizeof(anything));
		launch(1, [&] { tt_compare_begin(&result); });
		launch(32, [&] {
			tt_compare(out, code_fp64, 2, 2, units, 2, 1, expected, 0, 0, 0, poison,
				&result);
		});
		expect(result.violations == !is_anything, "a comparison with anything", code_fp64);
	}
}

/* Infinities and NaN are correct only in their own place, and an unwritten NaN is never correct. */
static void check_kinds()
{
	const float unset = __uint_as_float(poison);
	static const struct {
		double expected;
		float out;
		bool is_right;
	} cases[] = {
		{INFINITY, INFINITY, true},
		{-INFINITY, -INFINITY, true},
		{INFINITY, -INFINITY, false},
		{INFINITY, 3e38f, false},
		{INFINITY, NAN, false},
		{-INFINITY, 0, false},
		{1, INFINITY, false},
		{1, NAN, false},
		{NAN, NAN, true},
		{NAN, -NAN, true},
		{NAN, INFINITY, false},
		{NAN, 0, false},
		{NAN, unset, false},
		{1, unset, false},
		{1, 1.0005f, true},
		{1, 1.01f, false},
	};
	const i64 unit = 0;

	for (const auto &one : cases) {
		tt_result result;

		launch(1, [&] { tt_compare_begin(&result); });
		launch(1, [&] {
			tt_compare(&one.out, fp32::code, 1, 1, &unit, 1, 1, &one.expected, 0, 0,
				1e-3, poison, &result);
		});
		expect(result.violations == !one.is_right, "the same kind of number", fp32::code);
	}
}

/* Counts unwritten elements and NaN, and measures the magnitude of the rest. */
static void check_magnitudes()
{
	const double values[8] = {
		0, -1e9, 0.5, -0.75, INFINITY, NAN, __longlong_as_double(~0ll), 0.625};
	const i64 units[4] = {0, 1, 2, 3};
	std::vector<u64> counts(2 + 3 * 512);
	u64 groups = 0, largest = 0, all = 0;

	launch(4, [&] {
		tt_magnitudes(values, fp32::code, 8, 0, units, 4, 2, poison, counts.data());
	});
	for (size_t i = 2; i < counts.size(); i += 3) {
		all += counts[i];
		groups += counts[i] > 0;
		largest = std::max(largest, counts[i + 1]);
	}
	expect(counts[0] == 1 && counts[1] == 1, "one not written, one NaN", fp32::code);
	expect(all == 4 && groups == 2 && __longlong_as_double((i64)largest) == 1e9,
		"four finite numbers in two groups", fp32::code);
}

/* A checksum covers the bytes and positions of all rows, for any number of threads, but not the padding
 * between rows. */
static void check_checksum()
{
	unsigned char bytes[3 * 24];
	const auto sum = [&](unsigned threads, i64 row_bytes) {
		u64 found = 0;

		launch(threads, [&] { tt_checksum(bytes, 3, row_bytes, 24, &found); });
		return found;
	};

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(7 * i);
	for (i64 row_bytes : {13, 16}) {
		const u64 before = sum(32, row_bytes);

		expect(sum(1, row_bytes) == before, "the same sum of one thread", code_u8);
		bytes[row_bytes] ^= 1;
		expect(sum(32, row_bytes) == before, "nothing of what is between rows", code_u8);
		bytes[24 + row_bytes - 1] ^= 1;
		expect(sum(32, row_bytes) != before, "another sum for another byte", code_u8);
		bytes[24 + row_bytes - 1] ^= 1;
		std::swap_ranges(bytes, bytes + row_bytes, bytes + 24);
		expect(sum(32, row_bytes) != before, "another sum for exchanged rows", code_u8);
		std::swap_ranges(bytes, bytes + row_bytes, bytes + 24);
		bytes[row_bytes] ^= 1;
	}
}

int main()
{
	check_groups(0);
	check_checksum();
	check_groups(1);
	check_anything();
	check_kinds();
	check_magnitudes();
	for (int type = 0; type < TYPES; type++) {
		check_contents(type);
		check_comparison(type);
	}
	return wrong != 0;
}
