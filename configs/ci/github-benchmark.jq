# For benchmark-action/github-action-benchmark, tool customSmallerIsBetter: jq -f github-benchmark.jq tuned.json >times.json
[.entries[] | .winner.time_us as $time | (.timing == "predicted") as $predicted | {
  name: "\(.operation) \(.problem | to_entries | map("\(.key)=\(.value)") | join(","))\(if .objective then " (best \(.objective))" else "" end)\(if $predicted then " (predicted)" else "" end)",
  unit: "us", value: $time.median,
  extra: "\(.winner.family) {\(.winner.configuration | to_entries | map("\(.key)=\(.value)") | join(","))}"
} + if $predicted then {} else {range: "± \(($time.ci95_high - $time.ci95_low) / 2)"} end]
