/* layer: format
 * SPDX-License-Identifier: MIT
 *
 * The JSON Schema checker: every keyword, with the words of its errors.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/schema.h"

struct schema_case {
	const char *schema, *value;
	const char *message; /* NULL: it fits */
};

static void run_cases(const struct schema_case *cases, size_t count, enum status expected)
{
	for (size_t i = 0; i < count; i++) {
		struct json *schema = NULL, *value = NULL;
		struct json_at schema_at, at;
		struct error err = {0};
		enum status status;

		assert_ok(json_parse(cases[i].schema, strlen(cases[i].schema), "S", &schema, &err));
		assert_ok(json_parse(cases[i].value, strlen(cases[i].value), "V", &value, &err));
		schema_at = json_root(schema, "S");
		at = json_root(value, "V");
		status = schema_check(&schema_at, &at, &err);
		if (status != (cases[i].message ? expected : STATUS_OK) ||
			(cases[i].message && !strstr(err.message, cases[i].message)))
			fail_msg("%s with %s: \"%s\" (%d), expected \"%s\"", cases[i].schema,
				cases[i].value, err.message, (int)status,
				cases[i].message ? cases[i].message : "");
		/* without anybody to tell it is the same */
		assert_int_equal(schema_check(&schema_at, &at, NULL), status);
		json_free(schema);
		json_free(value);
	}
}

#define RUN(cases, status)                                                                         \
	(void)state;                                                                               \
	run_cases(cases, ARRAY_COUNT(cases), status)

static void test_values(void **state)
{
	static const struct schema_case cases[] = {
		{"true", "1", NULL},
		{"false", "1", "V: $: expected nothing here"},
		{"{}", "[1]", NULL},
		{"{\"type\":\"integer\"}", "3", NULL},
		{"{\"type\":\"integer\"}", "3.0", NULL},
		{"{\"type\":\"integer\"}", "3.5", "V: $: expected an integer, found"},
		{"{\"type\":\"number\"}", "3.5", NULL},
		{"{\"type\":\"string\"}", "3", "expected a string, found"},
		{"{\"type\":\"boolean\"}", "true", NULL},
		{"{\"type\":\"null\"}", "false", "expected null"},
		{"{\"type\":\"object\"}", "[]", "expected an object"},
		{"{\"type\":\"array\"}", "{}", "expected an array"},
		{"{\"type\":[\"string\",\"null\"]}", "null", NULL},
		{"{\"type\":[\"string\",\"null\"]}", "1", "expected a string or null, found"},
		{"{\"const\":\"x/1\"}", "\"x/1\"", NULL},
		{"{\"const\":\"x/1\"}", "\"x/2\"", "expected \"x/1\", found"},
		{"{\"const\":{\"a\":[1]}}", "{\"a\":[1]}", NULL},
		{"{\"enum\":[\"a\",1,null]}", "null", NULL},
		{"{\"enum\":[\"a\",1]}", "\"b\"", "expected one of \"a\", 1, found"},
		{"{\"minimum\":2}", "2", NULL},
		{"{\"minimum\":2}", "1.5", "expected a number of at least 2"},
		{"{\"maximum\":2}", "2.5", "expected a number of at most 2"},
		{"{\"exclusiveMinimum\":2}", "2", "expected a number above 2"},
		{"{\"exclusiveMaximum\":2}", "2", "expected a number below 2"},
		{"{\"exclusiveMaximum\":2}", "1.9", NULL},
		{"{\"minimum\":2}", "\"one\"", NULL},
		{"{\"minLength\":2}", "\"\\u00e9\"", "at least 2 characters"},
		{"{\"maxLength\":1}", "\"\\u00e9\"", NULL},
		{"{\"maxLength\":1}", "\"ab\"", "at most 1 characters"},
		{"{\"minLength\":2}", "1", NULL},
		{"{\"pattern\":\"^sm_[0-9]+a?$\"}", "\"sm_90a\"", NULL},
		{"{\"pattern\":\"^sm_[0-9]+a?$\"}", "\"sm_x\"",
			"expected text that matches ^sm_[0-9]+a?$, found"},
		{"{\"pattern\":\"b\"}", "\"abc\"", NULL}, /* not anchored */
		{"{\"pattern\":\"b\"}", "1", NULL},
	};

	RUN(cases, STATUS_BAD_INPUT);
}

static void test_containers(void **state)
{
	static const struct schema_case cases[] = {
		{"{\"items\":{\"type\":\"integer\"}}", "[1,2]", NULL},
		{"{\"items\":{\"type\":\"integer\"}}", "[1,\"2\"]", "V: $[1]: expected an integer"},
		{"{\"items\":{\"type\":\"integer\"}}", "{\"a\":\"b\"}", NULL},
		{"{\"minItems\":1}", "[]", "expected at least 1 items (0 are there)"},
		{"{\"maxItems\":1}", "[1,2]", "expected at most 1 items (2 are there)"},
		{"{\"minItems\":1}", "{}", NULL},
		{"{\"uniqueItems\":true}", "[1,[1],\"1\"]", NULL},
		{"{\"uniqueItems\":true}", "[1,2,1]",
			"V: $[2]: expected an item that is not there"},
		{"{\"uniqueItems\":false}", "[1,1]", NULL},
		{"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1,\"b\":2}",
			"V: $.a: expected a string"},
		{"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":2}", NULL},
		{"{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "V: $: expected a member \"b\""},
		{"{\"required\":[\"a\"]}", "[]", NULL},
		{"{\"properties\":{\"winner\":{}},\"additionalProperties\":false}", "{\"winer\":1}",
			"V: $.winer: expected a known member here"},
		{"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1}", NULL},
		{"{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"integer\"}}",
			"{\"a\":\"x\",\"b\":\"y\"}", "V: $.b: expected an integer"},
		{"{\"patternProperties\":{\"^x_\":{\"type\":\"integer\"}},\"additionalProperties\":"
		 "false}",
			"{\"x_1\":1}", NULL},
		{"{\"patternProperties\":{\"^x_\":{\"type\":\"integer\"}}}", "{\"x_1\":\"1\"}",
			"V: $.x_1: expected an integer"},
		{"{\"patternProperties\":{\"^x_\":{}},\"additionalProperties\":false}", "{\"y\":1}",
			"V: $.y: expected a known member here"},
		{"{\"propertyNames\":{\"pattern\":\"^[A-Z]+$\"}}", "{\"AB\":1}", NULL},
		{"{\"propertyNames\":{\"pattern\":\"^[A-Z]+$\"}}", "{\"ab\":1}",
			"the name of a member: V: $.ab: expected text that matches"},
		{"{\"minProperties\":1}", "{}", "expected at least 1 members (0 are there)"},
		{"{\"maxProperties\":1}", "{\"a\":1,\"b\":2}", "expected at most 1 members"},
	};

	RUN(cases, STATUS_BAD_INPUT);
}

static void test_combinations(void **state)
{
	static const char recursive[] =
		"{\"definitions\":{\"tree\":{\"type\":\"object\",\"properties\":{\"left\":{\"$"
		"ref\":"
		"\"#/definitions/tree\"}},\"additionalProperties\":false}},\"$ref\":"
		"\"#/definitions/tree\"}";
	static const char branches[] =
		"{\"if\":{\"properties\":{\"kind\":{\"const\":\"a\"}}},\"then\":{\"required\":["
		"\"x\"]},\"else\":{\"required\":[\"y\"]}}";
	static const struct schema_case cases[] = {
		{"{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "4", NULL},
		{"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "4",
			"expected a string"},
		/* the alternative that got furthest speaks */
		{"{\"anyOf\":[{\"type\":\"string\"},{\"properties\":{\"a\":{\"items\":{\"type\":"
		 "\"string\"}}}}]}",
			"{\"a\":[1]}", "V: $.a[0]: expected a string"},
		{"{\"oneOf\":[{\"minimum\":3},{\"maximum\":5}]}", "1", NULL},
		{"{\"oneOf\":[{\"minimum\":3},{\"maximum\":5}]}", "4",
			"expected exactly one of 2 forms (2 fit)"},
		{"{\"oneOf\":[{\"minimum\":3},{\"minimum\":5}]}", "1", "at least 3"},
		{"{\"allOf\":[{\"minimum\":3},{\"maximum\":5}]}", "6", "at most 5"},
		{"{\"allOf\":[{\"minimum\":3},{\"maximum\":5}]}", "4", NULL},
		{"{\"not\":{\"type\":\"string\"}}", "1", NULL},
		{"{\"not\":{\"type\":\"string\"}}", "\"x\"", "expected something else here"},
		{branches, "{\"kind\":\"a\",\"x\":1}", NULL},
		{branches, "{\"kind\":\"a\",\"y\":1}", "a member \"x\""},
		{branches, "{\"kind\":\"b\",\"x\":1}", "a member \"y\""},
		{recursive, "{\"left\":{\"left\":{}}}", NULL},
		{recursive, "{\"left\":{\"right\":{}}}",
			"V: $.left.right: expected a known member"},
		{"{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"b\"]}",
			"{\"b\":1,\"a\":{\"b\":1}}", NULL},
		{"{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"b\"]}",
			"{\"b\":1,\"a\":{}}", "V: $.a: expected a member \"b\""},
		{"{\"$schema\":\"x\",\"title\":\"t\",\"description\":\"d\",\"default\":1,"
		 "\"examples\":[],\"$comment\":\"c\",\"$id\":\"i\"}",
			"1", NULL},
	};

	RUN(cases, STATUS_BAD_INPUT);
}

static void test_broken_schemas(void **state)
{
	static const struct schema_case cases[] = {
		{"1", "1", "S: $: expected a schema"},
		{"{\"typ\":\"string\"}", "1", "S: $.typ: expected a keyword"},
		{"{\"type\":\"float\"}", "1", "S: $.type: expected the name of a type"},
		{"{\"type\":[1]}", "1", "S: $.type[0]: expected the name of a type"},
		{"{\"enum\":1}", "1", "S: $.enum: expected an array"},
		{"{\"minimum\":\"1\"}", "1", "S: $.minimum: expected a number"},
		{"{\"minLength\":\"1\"}", "1", "S: $.minLength"},
		{"{\"maxItems\":-1}", "[]", "S: $.maxItems"},
		{"{\"uniqueItems\":1}", "[]", "S: $.uniqueItems"},
		{"{\"pattern\":\"(\"}", "\"x\"", "S: $.pattern"},
		{"{\"pattern\":7}", "\"x\"", "S: $.pattern"},
		{"{\"items\":[{}]}", "[1]", "S: $.items"},
		{"{\"required\":\"a\"}", "{}", "S: $.required"},
		{"{\"required\":[1]}", "{}", "S: $.required[0]"},
		{"{\"properties\":[]}", "{}", "S: $.properties"},
		{"{\"patternProperties\":[]}", "{}", "S: $.patternProperties"},
		{"{\"patternProperties\":{\"(\":{}}}", "{\"a\":1}", "S: $.patternProperties.("},
		{"{\"anyOf\":[]}", "1", "S: $.anyOf"},
		{"{\"anyOf\":[{\"typ\":1},{}]}", "1", "S: $.anyOf[0].typ"},
		{"{\"not\":{\"typ\":1}}", "1", "S: $.not.typ"},
		{"{\"if\":{\"typ\":1}}", "1", "S: $.if.typ"},
		{"{\"allOf\":{}}", "1", "S: $.allOf"},
		{"{\"$ref\":1}", "1", "S: $.$ref"},
		{"{\"$ref\":\"#/definitions/none\"}", "1", "S: $.$ref"},
		{"{\"$ref\":\"other.json\"}", "1", "S: $.$ref"},
		{"{\"$ref\":\"#\"}", "1", "no circle of $ref"},
		{"{\"anyOf\":[{\"$ref\":\"#\"}]}", "1", "no circle of $ref"},
	};

	RUN(cases, STATUS_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_broken_schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
