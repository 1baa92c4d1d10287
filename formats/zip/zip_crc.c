/* SPDX-License-Identifier: MIT */
/* CRC-32 as zip has it, eight bytes at a time: table k holds what a byte does that k more bytes follow. */
#include "zip.h"

static const uint32_t polynomial = 0xEDB88320u;

void zip_crc_begin(struct zip_crc *crc)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? polynomial : 0);
        crc->table[0][i] = value;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++) {
            uint32_t before = crc->table[k - 1][i];
            crc->table[k][i] = before >> 8 ^ crc->table[0][before & 0xff];
        }
}

static uint32_t word(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint32_t zip_crc_add(const struct zip_crc *crc, uint32_t value, const void *bytes, uint64_t size)
{
    const unsigned char *at = bytes;
    value = ~value;
    for (; size >= 8; size -= 8, at += 8) {
        uint32_t low = value ^ word(at), high = word(at + 4);
        value = crc->table[7][low & 0xff] ^ crc->table[6][low >> 8 & 0xff] ^ crc->table[5][low >> 16 & 0xff] ^
                crc->table[4][low >> 24] ^ crc->table[3][high & 0xff] ^ crc->table[2][high >> 8 & 0xff] ^
                crc->table[1][high >> 16 & 0xff] ^ crc->table[0][high >> 24];
    }
    for (; size; size--, at++)
        value = value >> 8 ^ crc->table[0][(value ^ *at) & 0xff];
    return ~value;
}
