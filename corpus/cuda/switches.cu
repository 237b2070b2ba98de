// Control flow: dense and sparse switches (brx.idx), goto, nested loops, early exits, ternaries.

__global__ void interpreter(const unsigned char* program, int* stack, int limit)
{
    int sp = 0, acc = 0;
    for (int pc = 0; pc < limit; ++pc) {
        switch (program[pc]) {
        case 0: acc += stack[sp]; break;
        case 1: acc -= stack[sp]; break;
        case 2: acc *= stack[sp]; break;
        case 3: acc /= stack[sp] | 1; break;
        case 4: stack[sp++] = acc; break;
        case 5: acc = stack[--sp]; break;
        case 6: acc = ~acc; break;
        case 7: acc <<= 3; break;
        case 8: acc >>= 1; break;
        case 9: pc += acc & 7; break;
        case 10: acc = __popc(acc); break;
        case 11: acc ^= 0x5a5a; continue;
        case 12: if (acc) pc = 0; break;
        case 13: stack[0] = acc; return;
        case 14: acc = __clz(acc);  // falls through
        default: acc++;
        }
    }
    stack[0] = acc;
}

__global__ void sparse(const int* x, int* y)
{
    switch (x[threadIdx.x]) {
    case -1000: *y = 1; break;
    case 7: *y = 22; break;
    case 1 << 20: *y = 333; break;
    case 2147483647: atomicAdd(y, 4); break;
    default: __trap();
    }
}

__global__ void wide(const long long* x, double* y)
{
    double v = y[threadIdx.x];
    switch (x[threadIdx.x]) {
    case 1LL << 33: v = -v; break;
    case (1LL << 33) + 1: v = v * v; break;
    case (1LL << 33) + 2: v = sqrt(v); break;
    case (1LL << 33) + 3: v = 1 / v; break;
    case (1LL << 33) + 4: v = fabs(v); break;
    case (1LL << 33) + 5: v = floor(v); break;
    }
    y[threadIdx.x] = v;
}

__global__ void jumps(int* a, int n)
{
    int i = 0, j;
again:
    for (j = 0; j < n; ++j) {
        if (a[j] == i) goto found;
        do { a[j] -= i; } while (a[j] > n && --i);
    }
    if (++i < n) goto again;
    return;
found:
    a[i] = j < n / 2 ? (j & 1 ? -1 : 1) : (a[j] > 0 && a[i] < 0) || !a[0] ? 2 : 3;
}
