// Injection sites as macros, for PTX that ptxkit.inject reads.
//
//     PTX_INJECT("func", PTX_IN(F32, x, a[i]), PTX_MOD(F32, acc), PTX_OUT(F32, z));
//
// A site has a name and up to 32 operands. An operand has a type, a name that stubs use, and an
// expression, which is the name where none is given. PTX_INJECT_PURE is for a site that the
// compiler may move, and drop where its outputs are not used; PTX_INJECT_MEMORY for one whose
// stubs read or write memory.
//
// A macro expands to one asm statement, whose text is a comment.
#pragma once

#define PTX_INJECT(...) PTXKIT_SITE(asm volatile, "volatile", , __VA_ARGS__)
#define PTX_INJECT_PURE(...) PTXKIT_SITE(asm, "pure", , __VA_ARGS__)
#define PTX_INJECT_MEMORY(...) PTXKIT_SITE(asm volatile, "volatile memory", : "memory", __VA_ARGS__)

#define PTX_IN(type, ...) (in, type, __VA_ARGS__)
#define PTX_MOD(type, ...) (mod, type, __VA_ARGS__)
#define PTX_OUT(type, ...) (out, type, __VA_ARGS__)

// Types: name, type of the register, letter of the constraint, way to pass a value, the C++
// type that the letter stands for, and the type of the value.
#define PTXKIT_TYPE_U16 u16, u16, h, PTXKIT_PLAIN, unsigned short, unsigned short
#define PTXKIT_TYPE_S16 s16, s16, h, PTXKIT_PLAIN, unsigned short, unsigned short
#define PTXKIT_TYPE_B16 b16, b16, h, PTXKIT_PLAIN, unsigned short, unsigned short
#define PTXKIT_TYPE_U32 u32, u32, r, PTXKIT_PLAIN, unsigned int, unsigned int
#define PTXKIT_TYPE_S32 s32, s32, r, PTXKIT_PLAIN, unsigned int, unsigned int
#define PTXKIT_TYPE_B32 b32, b32, r, PTXKIT_PLAIN, unsigned int, unsigned int
#define PTXKIT_TYPE_U64 u64, u64, l, PTXKIT_PLAIN, unsigned long long, unsigned long long
#define PTXKIT_TYPE_S64 s64, s64, l, PTXKIT_PLAIN, unsigned long long, unsigned long long
#define PTXKIT_TYPE_B64 b64, b64, l, PTXKIT_PLAIN, unsigned long long, unsigned long long
#define PTXKIT_TYPE_F16 f16, b16, h, PTXKIT_BITS, unsigned short, __half
#define PTXKIT_TYPE_BF16 bf16, b16, h, PTXKIT_BITS, unsigned short, __nv_bfloat16
#define PTXKIT_TYPE_F16X2 f16x2, b32, r, PTXKIT_BITS, unsigned int, __half2
#define PTXKIT_TYPE_BF16X2 bf16x2, b32, r, PTXKIT_BITS, unsigned int, __nv_bfloat162
#define PTXKIT_TYPE_F32 f32, f32, f, PTXKIT_PLAIN, float, float
#define PTXKIT_TYPE_F64 f64, f64, d, PTXKIT_PLAIN, double, double
#define PTXKIT_TYPE_B128 b128, b128, q, PTXKIT_PLAIN, unsigned __int128, unsigned __int128
#define PTXKIT_TYPE_PRED pred, pred, r, PTXKIT_PREDICATE, unsigned int, unsigned int

// The same without commas, for options of compilers: PTXKIT_ROW(f32)(f32)(f)(PTXKIT_PLAIN)...
#define PTXKIT_ROW(field) field, PTXKIT_ROW_2
#define PTXKIT_ROW_2(field) field, PTXKIT_ROW_3
#define PTXKIT_ROW_3(field) field, PTXKIT_ROW_4
#define PTXKIT_ROW_4(field) field, PTXKIT_ROW_5
#define PTXKIT_ROW_5(field) field, PTXKIT_ROW_6
#define PTXKIT_ROW_6(field) field

// Ways to pass a value.
#define PTXKIT_PLAIN(direction, carrier, type, ...) __VA_ARGS__
#define PTXKIT_BITS(direction, carrier, type, ...)                   \
    reinterpret_cast<PTXKIT_CONST_##direction carrier &>(            \
        static_cast<PTXKIT_CONST_##direction type &>(__VA_ARGS__))
#define PTXKIT_PREDICATE(direction, carrier, type, ...) \
    PTXKIT_PREDICATE_##direction(__VA_ARGS__)
#define PTXKIT_PREDICATE_in(...) static_cast<unsigned int>(static_cast<bool>(__VA_ARGS__))
#define PTXKIT_PREDICATE_mod(...) __VA_ARGS__
#define PTXKIT_PREDICATE_out(...) __VA_ARGS__
#define PTXKIT_CONST_in const
#define PTXKIT_CONST_mod
#define PTXKIT_CONST_out

// The statement. Outputs and inputs come as lists whose every element has a comma before it.
#define PTXKIT_SITE(statement, flags, clobber, ...)                                       \
    statement("// PTX_INJECT " PTXKIT_FIRST(__VA_ARGS__, ~)                               \
                  PTXKIT_EACH(PTXKIT_DESCRIBE, __VA_ARGS__) " @" PTXKIT_TEXT(__LINE__)    \
              " " flags " =" PTXKIT_REGISTERS(__VA_ARGS__)                                \
              : PTXKIT_TAIL(~ PTXKIT_EACH(PTXKIT_OUTPUT, __VA_ARGS__))                    \
              : PTXKIT_TAIL(~ PTXKIT_EACH(PTXKIT_INPUT, __VA_ARGS__)) clobber)

#define PTXKIT_DESCRIBE(direction, type, ...) \
    PTXKIT_CALL(PTXKIT_DESCRIBE_, (direction, PTXKIT_TYPE_##type, PTXKIT_FIRST(__VA_ARGS__, ~)))
#define PTXKIT_DESCRIBE_(direction, type, reg, letter, way, carrier, value, name) \
    " " #direction ":" #type ":" #reg ":" #name

#define PTXKIT_OUTPUT(direction, type, ...) PTXKIT_OUTPUT_##direction(type, __VA_ARGS__)
#define PTXKIT_OUTPUT_in(type, ...)
#define PTXKIT_OUTPUT_mod(type, ...) PTXKIT_OPERAND("+", mod, type, PTXKIT_VALUE(__VA_ARGS__))
#define PTXKIT_OUTPUT_out(type, ...) PTXKIT_OPERAND("=", out, type, PTXKIT_VALUE(__VA_ARGS__))
#define PTXKIT_INPUT(direction, type, ...) PTXKIT_INPUT_##direction(type, __VA_ARGS__)
#define PTXKIT_INPUT_in(type, ...) PTXKIT_OPERAND("", in, type, PTXKIT_VALUE(__VA_ARGS__))
#define PTXKIT_INPUT_mod(type, ...)
#define PTXKIT_INPUT_out(type, ...)

#define PTXKIT_OPERAND(prefix, direction, type, ...) \
    PTXKIT_CALL(PTXKIT_OPERAND_, (prefix, direction, PTXKIT_TYPE_##type, __VA_ARGS__))
#define PTXKIT_OPERAND_(prefix, direction, type, reg, letter, way, carrier, value, ...) \
    , prefix #letter(way(direction, carrier, value, __VA_ARGS__))

#define PTXKIT_CALL(macro, arguments) macro arguments
#define PTXKIT_FIRST(first, ...) first
#define PTXKIT_TAIL(...) PTXKIT_TAIL_(__VA_ARGS__)
#define PTXKIT_TAIL_(first, ...) __VA_ARGS__
#define PTXKIT_TEXT(value) PTXKIT_TEXT_(value)
#define PTXKIT_TEXT_(value) #value
#define PTXKIT_JOIN(a, b) PTXKIT_JOIN_(a, b)
#define PTXKIT_JOIN_(a, b) a##b

// An operand's expression: what follows its name, or the name.
#define PTXKIT_VALUE(...) PTXKIT_JOIN(PTXKIT_VALUE_, PTXKIT_AT(__VA_ARGS__, rest, rest, \
    rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, \
    rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, rest, \
    rest, rest, name, ~))(__VA_ARGS__)
#define PTXKIT_VALUE_name(name) name
#define PTXKIT_VALUE_rest(name, ...) __VA_ARGS__

// How many operands follow the site's name.
#define PTXKIT_COUNT(...) PTXKIT_AT(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, \
    21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ~)
#define PTXKIT_AT(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
    a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, found, \
    ...) found

#define PTXKIT_REGISTERS(...) PTXKIT_JOIN(PTXKIT_REGISTERS_, PTXKIT_COUNT(__VA_ARGS__))
#define PTXKIT_REGISTERS_0
#define PTXKIT_REGISTERS_1 PTXKIT_REGISTERS_0 " %0"
#define PTXKIT_REGISTERS_2 PTXKIT_REGISTERS_1 " %1"
#define PTXKIT_REGISTERS_3 PTXKIT_REGISTERS_2 " %2"
#define PTXKIT_REGISTERS_4 PTXKIT_REGISTERS_3 " %3"
#define PTXKIT_REGISTERS_5 PTXKIT_REGISTERS_4 " %4"
#define PTXKIT_REGISTERS_6 PTXKIT_REGISTERS_5 " %5"
#define PTXKIT_REGISTERS_7 PTXKIT_REGISTERS_6 " %6"
#define PTXKIT_REGISTERS_8 PTXKIT_REGISTERS_7 " %7"
#define PTXKIT_REGISTERS_9 PTXKIT_REGISTERS_8 " %8"
#define PTXKIT_REGISTERS_10 PTXKIT_REGISTERS_9 " %9"
#define PTXKIT_REGISTERS_11 PTXKIT_REGISTERS_10 " %10"
#define PTXKIT_REGISTERS_12 PTXKIT_REGISTERS_11 " %11"
#define PTXKIT_REGISTERS_13 PTXKIT_REGISTERS_12 " %12"
#define PTXKIT_REGISTERS_14 PTXKIT_REGISTERS_13 " %13"
#define PTXKIT_REGISTERS_15 PTXKIT_REGISTERS_14 " %14"
#define PTXKIT_REGISTERS_16 PTXKIT_REGISTERS_15 " %15"
#define PTXKIT_REGISTERS_17 PTXKIT_REGISTERS_16 " %16"
#define PTXKIT_REGISTERS_18 PTXKIT_REGISTERS_17 " %17"
#define PTXKIT_REGISTERS_19 PTXKIT_REGISTERS_18 " %18"
#define PTXKIT_REGISTERS_20 PTXKIT_REGISTERS_19 " %19"
#define PTXKIT_REGISTERS_21 PTXKIT_REGISTERS_20 " %20"
#define PTXKIT_REGISTERS_22 PTXKIT_REGISTERS_21 " %21"
#define PTXKIT_REGISTERS_23 PTXKIT_REGISTERS_22 " %22"
#define PTXKIT_REGISTERS_24 PTXKIT_REGISTERS_23 " %23"
#define PTXKIT_REGISTERS_25 PTXKIT_REGISTERS_24 " %24"
#define PTXKIT_REGISTERS_26 PTXKIT_REGISTERS_25 " %25"
#define PTXKIT_REGISTERS_27 PTXKIT_REGISTERS_26 " %26"
#define PTXKIT_REGISTERS_28 PTXKIT_REGISTERS_27 " %27"
#define PTXKIT_REGISTERS_29 PTXKIT_REGISTERS_28 " %28"
#define PTXKIT_REGISTERS_30 PTXKIT_REGISTERS_29 " %29"
#define PTXKIT_REGISTERS_31 PTXKIT_REGISTERS_30 " %30"
#define PTXKIT_REGISTERS_32 PTXKIT_REGISTERS_31 " %31"

// A macro for each operand; an operand is its arguments in parentheses.
#define PTXKIT_EACH(macro, ...) \
    PTXKIT_JOIN(PTXKIT_EACH_, PTXKIT_COUNT(__VA_ARGS__))(macro, __VA_ARGS__)
#define PTXKIT_EACH_0(macro, name)
#define PTXKIT_EACH_1(macro, name, a) macro a
#define PTXKIT_EACH_2(macro, name, a, ...) macro a PTXKIT_EACH_1(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_3(macro, name, a, ...) macro a PTXKIT_EACH_2(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_4(macro, name, a, ...) macro a PTXKIT_EACH_3(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_5(macro, name, a, ...) macro a PTXKIT_EACH_4(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_6(macro, name, a, ...) macro a PTXKIT_EACH_5(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_7(macro, name, a, ...) macro a PTXKIT_EACH_6(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_8(macro, name, a, ...) macro a PTXKIT_EACH_7(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_9(macro, name, a, ...) macro a PTXKIT_EACH_8(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_10(macro, name, a, ...) macro a PTXKIT_EACH_9(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_11(macro, name, a, ...) macro a PTXKIT_EACH_10(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_12(macro, name, a, ...) macro a PTXKIT_EACH_11(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_13(macro, name, a, ...) macro a PTXKIT_EACH_12(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_14(macro, name, a, ...) macro a PTXKIT_EACH_13(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_15(macro, name, a, ...) macro a PTXKIT_EACH_14(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_16(macro, name, a, ...) macro a PTXKIT_EACH_15(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_17(macro, name, a, ...) macro a PTXKIT_EACH_16(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_18(macro, name, a, ...) macro a PTXKIT_EACH_17(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_19(macro, name, a, ...) macro a PTXKIT_EACH_18(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_20(macro, name, a, ...) macro a PTXKIT_EACH_19(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_21(macro, name, a, ...) macro a PTXKIT_EACH_20(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_22(macro, name, a, ...) macro a PTXKIT_EACH_21(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_23(macro, name, a, ...) macro a PTXKIT_EACH_22(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_24(macro, name, a, ...) macro a PTXKIT_EACH_23(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_25(macro, name, a, ...) macro a PTXKIT_EACH_24(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_26(macro, name, a, ...) macro a PTXKIT_EACH_25(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_27(macro, name, a, ...) macro a PTXKIT_EACH_26(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_28(macro, name, a, ...) macro a PTXKIT_EACH_27(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_29(macro, name, a, ...) macro a PTXKIT_EACH_28(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_30(macro, name, a, ...) macro a PTXKIT_EACH_29(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_31(macro, name, a, ...) macro a PTXKIT_EACH_30(macro, name, __VA_ARGS__)
#define PTXKIT_EACH_32(macro, name, a, ...) macro a PTXKIT_EACH_31(macro, name, __VA_ARGS__)
