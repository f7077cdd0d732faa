# Bencher Metric Format, times in nanoseconds: jq -f bencher.jq tuned.json >times.json; bencher run --adapter json --file times.json
[.entries[] | .winner.time_us as $time | {
  key: "\(.operation) \(.problem | to_entries | map("\(.key)=\(.value)") | join(","))\(if .objective then " (best \(.objective))" else "" end)",
  value: (if .timing == "predicted" then {"predicted-latency": {value: ($time.median * 1000)}}
    else {latency: {value: ($time.median * 1000), lower_value: ($time.ci95_low * 1000), upper_value: ($time.ci95_high * 1000)}} end)
}] | from_entries
