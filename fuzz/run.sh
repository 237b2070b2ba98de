#!/bin/sh
# Fuzz the parser and the formatter under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#     fuzz/run.sh [seconds]      600 by default
#
# Uses libFuzzer where clang++ has it (Debian: clang and libclang-rt-14-dev); otherwise a
# driver of our own under g++. A finding makes the exit status non-zero, and its input is
# kept in fuzz/findings.
set -eu

seconds=${1:-600}
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/fuzz
findings=$root/fuzz/findings
mkdir -p "$build/seeds" "$build/corpus" "$findings"

python3 "$root/fuzz/seeds.py" "$build/seeds"
if [ -d "$root/.cache/corpus" ]; then
    find "$root/.cache/corpus" -name '*.ptx' -size -8k -exec cp {} "$build/seeds" \;
fi

flags="-std=c++20 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
       -I$root/native -I$root/fuzz"
sources="$root/native/syntax/*.cpp $root/fuzz/invariants.cpp $root/fuzz/mutate.cpp"
probe='extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }'

if command -v clang++ >/dev/null 2>&1 &&
    echo "$probe" | clang++ -fsanitize=fuzzer -x c++ - -o "$build/probe" 2>/dev/null; then
    # shellcheck disable=SC2086
    clang++ $flags -fsanitize=fuzzer,address,undefined $sources "$root/fuzz/parse_fuzzer.cpp" \
        -o "$build/parse_fuzzer"
    echo "libFuzzer, $seconds seconds"
    exec "$build/parse_fuzzer" -max_total_time="$seconds" -timeout=10 -max_len=8192 \
        -dict="$root/fuzz/ptx.dict" -artifact_prefix="$findings/" -print_final_stats=1 \
        "$build/corpus" "$build/seeds"
fi
# shellcheck disable=SC2086
g++ $flags -fsanitize=address,undefined $sources "$root/fuzz/standalone.cpp" \
    -o "$build/standalone"
echo "no clang++ with libFuzzer here: the standalone driver, $seconds seconds"
exec "$build/standalone" --seconds "$seconds" --dictionary "$root/fuzz/ptx.dict" \
    --findings "$findings" "$build/seeds"
