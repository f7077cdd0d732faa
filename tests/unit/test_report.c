/* Tiles as a text; tests/cli/report.session, tests/rules/test_journal.py and
 * tests/checks/report_browser.py test reports. */
#include "unit/unit.h"
#include "report/report.h"

TEST(tiles_have_a_text)
{
	assert_string_equal(report_tile("BM=128,WM=64,BN=256,WN=64,BK=32").text, "128x256x32");
	assert_string_equal(report_tile("STAGES=2,BN=96,BM=64").text, "64x96");
	assert_string_equal(report_tile("KEYS=64,STAGES=2").text, "");
	assert_string_equal(report_tile("gemm/mma {BM=128,BN=64} + gemm/mma {BM=32}").text, "");
	/* a value that is too long is left out, not cut */
	assert_string_equal(report_tile("BM=123456789012345678901234567890,BN=64").text, "64");
}
