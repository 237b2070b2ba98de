#!/bin/sh
# Fuzz the native core under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#     fuzz/run.sh [seconds [target...]]      600 seconds for each of all targets by default
#
# Uses libFuzzer where clang++ has it (Debian: clang and libclang-rt-14-dev); otherwise a
# driver of our own under g++. A finding makes the exit status non-zero, and its input is
# kept in fuzz/findings.
set -eu

seconds=${1:-600}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- parse inject
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/fuzz
findings=$root/fuzz/findings
mkdir -p "$build/seeds" "$findings"

python3 "$root/fuzz/seeds.py" "$build/seeds"
if [ -d "$root/.cache/corpus" ]; then
    find "$root/.cache/corpus" -name '*.ptx' -size -8k -exec cp {} "$build/seeds" \;
fi

# What a target is made of: each has its own check_all.
sources_of() {
    case $1 in
        parse) echo "$root/fuzz/invariants.cpp" ;;
        inject) echo "$root/native/inject/*.cpp $root/fuzz/inject_invariants.cpp" ;;
        *) echo "there is no target '$1'; there are: parse, inject" >&2; exit 2 ;;
    esac
}

flags="-std=c++20 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
       -I$root/native -I$root/fuzz"
probe='extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }'

for target in "$@"; do
    own=$(sources_of "$target")
    sources="$root/native/syntax/*.cpp $root/fuzz/mutate.cpp $own"
    mkdir -p "$build/corpus-$target"
    if command -v clang++ >/dev/null 2>&1 &&
        echo "$probe" | clang++ -fsanitize=fuzzer -x c++ - -o "$build/probe" 2>/dev/null; then
        # shellcheck disable=SC2086
        clang++ $flags -fsanitize=fuzzer,address,undefined $sources "$root/fuzz/fuzzer.cpp" \
            -o "$build/$target-fuzzer"
        echo "$target: libFuzzer, $seconds seconds"
        "$build/$target-fuzzer" -max_total_time="$seconds" -timeout=10 -max_len=8192 \
            -dict="$root/fuzz/ptx.dict" -artifact_prefix="$findings/" -print_final_stats=1 \
            "$build/corpus-$target" "$build/seeds"
    else
        # shellcheck disable=SC2086
        g++ $flags -fsanitize=address,undefined $sources "$root/fuzz/standalone.cpp" \
            -o "$build/$target-standalone"
        echo "$target: no clang++ with libFuzzer here, the standalone driver, $seconds seconds"
        "$build/$target-standalone" --seconds "$seconds" --dictionary "$root/fuzz/ptx.dict" \
            --findings "$findings" "$build/seeds"
    fi
done
