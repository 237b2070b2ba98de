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
[ $# -gt 0 ] || set -- parse inject stack simulator
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/fuzz
findings=$root/fuzz/findings
mkdir -p "$build/seeds" "$findings"

python3 "$root/fuzz/seeds.py" "$build/seeds"
python3 "$root/fuzz/seeds.py" "$build/seeds-stack" stack
if [ -d "$root/.cache/corpus" ]; then
    find "$root/.cache/corpus" -name '*.ptx' -size -8k -exec cp {} "$build/seeds" \;
fi

# What a target is made of: each has its own check_all.
sources_of() {
    case $1 in
        parse) echo "$root/fuzz/invariants.cpp" ;;
        inject) echo "$root/native/inject/*.cpp $root/fuzz/inject_invariants.cpp" ;;
        stack) echo "$root/native/stack/*.cpp $root/native/sim/*.cpp $root/fuzz/stack_table.cpp
                     $root/fuzz/stack_invariants.cpp" ;;
        *) echo "there is no target '$1'; there are: parse, inject, stack, simulator" >&2; exit 2 ;;
    esac
}

# Kernels that were changed here and there, on the simulator; see fuzz/simulate.py.
simulate() {
    python=$(command -v python3)
    cmake -S "$root" -B "$build/extension" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DPTXKIT_SANITIZE=ON -DPython_EXECUTABLE="$python" >"$build/cmake.log"
    cmake --build "$build/extension" -j 2 >>"$build/cmake.log"
    # The package as it stands in the tree, but for the extension.
    rm -rf "$build/package"
    mkdir -p "$build/package/ptxkit"
    for item in "$root"/src/ptxkit/*; do
        case $item in *_native*.so | *__pycache__) ;; *) ln -s "$item" "$build/package/ptxkit/" ;; esac
    done
    cp "$build"/extension/_native*.so "$build/package/ptxkit/"
    echo "simulator: $seconds seconds"
    # Python itself keeps memory until its end; what it frees twice or writes past is found.
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
        LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
        PYTHONPATH="$build/package" "$python" "$root/fuzz/simulate.py" \
        --seconds "$seconds" --findings "$findings"
}

flags="-std=c++20 -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
       -I$root/native -I$root/fuzz"
probe='extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }'

for target in "$@"; do
    if [ "$target" = simulator ]; then
        simulate
        continue
    fi
    own=$(sources_of "$target")
    sources="$root/native/syntax/*.cpp $root/fuzz/mutate.cpp $own"
    mkdir -p "$build/corpus-$target"
    seeds=$build/seeds
    [ "$target" != stack ] || seeds=$build/seeds-stack
    if command -v clang++ >/dev/null 2>&1 &&
        echo "$probe" | clang++ -fsanitize=fuzzer -x c++ - -o "$build/probe" 2>/dev/null; then
        # shellcheck disable=SC2086
        clang++ $flags -fsanitize=fuzzer,address,undefined $sources "$root/fuzz/fuzzer.cpp" \
            -o "$build/$target-fuzzer"
        echo "$target: libFuzzer, $seconds seconds"
        "$build/$target-fuzzer" -max_total_time="$seconds" -timeout=10 -max_len=8192 \
            -dict="$root/fuzz/ptx.dict" -artifact_prefix="$findings/" -print_final_stats=1 \
            "$build/corpus-$target" "$seeds"
    else
        # shellcheck disable=SC2086
        g++ $flags -fsanitize=address,undefined $sources "$root/fuzz/standalone.cpp" \
            -o "$build/$target-standalone"
        echo "$target: no clang++ with libFuzzer here, the standalone driver, $seconds seconds"
        "$build/$target-standalone" --seconds "$seconds" --dictionary "$root/fuzz/ptx.dict" \
            --findings "$findings" "$seeds"
    fi
done
