"""Inputs that nobody means well with: 50 texts by name."""

from __future__ import annotations

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = HEAD + ".visible .entry k(.param .u64 p)\n{\n    ret;\n}\n"
CUDA = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1.0f; }\n'
SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = "<img src=x onerror='window.hacked = 1'>"
CLOSED = '\'"></code></div></div><svg onload="window.hacked=1">'

#: Name -> text.
HOSTILE = {
    # Nothing, or next to it.
    "empty": "",
    "spaces": " \t\n" * 50,
    "one letter": "x",
    "only a comment": "// nothing\n",
    "comment without an end": "/* " + "a" * 5000,
    "only NUL": "\0" * 100,
    # Not text.
    "NUL inside": HEAD + "\0" + KERNEL,
    "NUL at the end": KERNEL + "\0\0",
    "binary": bytes(range(256)).decode("latin-1") * 20,
    "an ELF header": "\x7fELF\x02\x01\x01" + "\0" * 64,
    "UTF-16": "".join(f"{c}\0" for c in KERNEL),
    "control characters": HEAD + "// \x01\x02\x1b[31m\x7f\x9b\n" + KERNEL,
    "lone surrogates": HEAD + "// \ud800 \udfff\n",
    "text turned around": "// \u202e\u2066 evil \u2069\n" + KERNEL,
    "byte order mark": "\ufeff" + KERNEL,
    "carriage returns": KERNEL.replace("\n", "\r"),
    # Large.
    "2 MB": KERNEL + "// padding line\n" * 130_000,
    "a line of 10 MB": "// " + "a" * (10 << 20),
    "a line of 100 kB": "// " + "a" * 100_000 + "\n" + KERNEL,
    "100,000 empty lines": KERNEL + "\n" * 100_000,
    "20,000 braces": ".func f() " + "{" * 20_000,
    "20,000 brackets": HEAD + ".func f() { mov.u32 a, " + "(" * 15_000 + "1" + ")" * 100 + "; }",
    "5,000 functions": HEAD + "".join(f".func f{n}() {{ ret; }}\n" for n in range(5000)),
    "a huge register range": HEAD + ".func f() { .reg .b32 %r<4000000000>; ret; }",
    "a huge array": HEAD + ".global .b8 a[99999999999999];\n.entry k() { ret; }",
    "a number without end": HEAD + ".func f() { mov.u32 %r1, " + "9" * 15_000 + "; }",
    "a name of 15,000 letters": HEAD + ".entry " + "k" * 15_000 + "() { ret; }",
    # HTML and script.
    "script in a comment": f"// {SCRIPT}\n{KERNEL}",
    "image in a comment": f"/* {IMAGE} */\n{KERNEL}",
    "script in a string": HEAD + f'.file 1 "{SCRIPT}"\n' + KERNEL,
    "script as an instruction": HEAD + f".func f() {{ {SCRIPT}; }}",
    "script as an operand": HEAD + f".func f() {{ mov.u32 %r1, {IMAGE}; }}",
    "markup that closes ours": f"// {CLOSED}\n" + HEAD + f".func f() {{ {CLOSED} }}",
    "templates": "// ${window.hacked=1} {{window.hacked=1}} <%= 1 %> #{1}\n" + KERNEL,
    "entities": "// &lt;script&gt; &#60;script&#62; &amp;lt;\n" + KERNEL,
    "script in CUDA": f"// {SCRIPT}{IMAGE}\n{CUDA}",
    "script in a CUDA error": CUDA + f"{IMAGE} // {SCRIPT}\n__global__ void b() {{ {IMAGE} }}",
    "script in a label": HEAD + ".func f() { <b>x</b>: bra <b>x</b>; }",
    # Files and paths.
    "a path": "/etc/passwd",
    "a path upwards": "../../../../etc/shadow",
    "an address": "file:///etc/passwd",
    "includes a file": '#include "/etc/passwd"\n' + CUDA,
    "includes a file by angles": "#include </etc/passwd>\n" + CUDA,
    "includes upwards": "#include <../../../../../../etc/passwd>\n" + CUDA,
    "includes by a macro": '#define F "/etc/passwd"\n#include F\n' + CUDA,
    "includes in pieces": '#in\\\nclude "/etc/passwd"\n' + CUDA,
    "includes after a comment": '/* */ # /* */ include "/etc/passwd"\n' + CUDA,
    "includes by a digraph": '%:include "/etc/passwd"\n' + CUDA,
    "asks for a file": '#if __has_include("/etc/passwd")\n#endif\n' + CUDA,
    # Work without end.
    "templates without end": "template<int N> struct A { enum { v = A<N+1>::v + A<N+2>::v }; };\n"
    "__global__ void k(int *x) { x[0] = A<0>::v; }\n",
}
