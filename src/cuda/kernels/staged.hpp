/* SPDX-License-Identifier: MIT */
/*
 * TABLE and PANEL: elements, which a block copies from data into its shared memory in whole sectors before it
 * looks for them there. TABLE copies the tables of some rows; PANEL copies some columns of a table that all
 * rows share, or as many of their first rows as there is room for, and loads what lies beyond from data.
 */
#ifndef GARNER_CUDA_STAGED_HPP
#define GARNER_CUDA_STAGED_HPP

#include "find.hpp"

/* Copies vectors [thread, count) of a list, several in flight; `address_of` says where each lies. */
template <int BYTES, class ADDRESS>
KERNEL_CODE void copy_list(int64_t count, int thread, int threads, char *shared, ADDRESS address_of)
{
    constexpr int flight = 4;
    typedef typename vector_of<BYTES>::type vector;
    for (int64_t first = thread; first < count; first += (int64_t)flight * threads) {
        vector value[flight] = {};
        for (int i = 0; i < flight; i++)
            if (first + i * threads < count)
                value[i] = load<vector>(address_of((uint32_t)(first + i * threads)));
        for (int i = 0; i < flight; i++)
            if (first + i * threads < count) ((vector *)shared)[first + i * threads] = value[i];
    }
}

/* The same for vectors of 16 bytes where the host found them aligned, else for elements. */
template <int VECTOR, class ADDRESS>
KERNEL_CODE void copy_vectors(int bytes, int64_t count, int thread, int threads, char *shared,
                              ADDRESS address_of)
{
    if (bytes == 16)
        copy_list<16>(count, thread, threads, shared, address_of);
    else
        copy_list<VECTOR>(count, thread, threads, shared, address_of);
}

/* ---- TABLE ---- */

/* Looks COUNT indices of one row up in a table of shared memory, and stores what they select. */
template <int INDEX, int VECTOR, int COUNT>
KERNEL_CODE void move_from_table(const struct cuda_task &task, const char *table,
                                 const int64_t (&index)[COUNT], int64_t point, char *out)
{
    typedef typename vector_of<VECTOR>::type vector;
    pack<vector, COUNT> value = {};
    int32_t picked[COUNT];
    check_indices<INDEX>(task, task.level[0].axis, index, point, picked);
    for (int i = 0; i < COUNT; i++)
        if (picked[i] >= 0) value.at[i] = ((const vector *)table)[picked[i]];
    store_pack(out, value);
}

/* Moves the points of rows whose tables lie one after the other in shared memory, COUNT at a time. */
template <int INDEX, int VECTOR, int COUNT>
KERNEL_CODE void move_staged(const struct cuda_task &task, const block &b, int thread, int64_t first_row,
                             int rows)
{
    constexpr int flight = IN_FLIGHT_TABLE;
    const struct dim &inner = task.level[task.rank - 1].dim;
    const struct divisor &by = task.level[task.rank - 1].by; /* by packs of a row */
    const struct row_spot *spots = (const struct row_spot *)b.shared;
    const char *tables = b.shared + spots_bytes(task.group);
    const uint32_t packs = (uint32_t)rows * by.by;
    for (uint32_t first = (uint32_t)thread; first < packs; first += (uint32_t)(flight * b.threads)) {
        int64_t index[flight][COUNT];
        uint32_t row[flight], column[flight];
        for (int i = 0; i < flight; i++) {
            const uint32_t at = first + (uint32_t)(i * b.threads);
            if (at >= packs) break;
            row[i] = task.group > 1 ? divide(at, by) : 0;
            column[i] = (at - row[i] * by.by) * COUNT;
            load_indices<INDEX, COUNT>(task, spots[row[i]].index + column[i] * inner.index, index[i]);
        }
        for (int i = 0; i < flight; i++) {
            if (first + (uint32_t)(i * b.threads) >= packs) break;
            move_from_table<INDEX, VECTOR, COUNT>(task, tables + row[i] * task.staged, index[i],
                                                  (first_row + row[i]) * inner.n + column[i],
                                                  task.out + spots[row[i]].out + column[i] * inner.out);
        }
    }
}

/* The same where all rows have the same indices: each is loaded and checked once for all rows that are
 * staged. */
template <int INDEX, int VECTOR, int COUNT>
KERNEL_CODE void move_shared(const struct cuda_task &task, const block &b, int thread, int64_t first_row,
                             int rows)
{
    typedef typename vector_of<VECTOR>::type vector;
    const struct dim &inner = task.level[task.rank - 1].dim;
    const struct row_spot *spots = (const struct row_spot *)b.shared;
    const char *tables = b.shared + spots_bytes(task.group);
    const int packs = (int)task.level[task.rank - 1].by.by;
    for (int at = thread; at < packs; at += b.threads) {
        const int64_t column = (int64_t)at * COUNT;
        int64_t index[COUNT];
        int32_t picked[COUNT];
        load_indices<INDEX, COUNT>(task, spots[0].index + column * inner.index, index);
        check_indices<INDEX>(task, task.level[0].axis, index, first_row * inner.n + column, picked);
        for (int row = 0; row < rows; row++) {
            const vector *table = (const vector *)(tables + row * task.staged);
            pack<vector, COUNT> value = {};
            for (int i = 0; i < COUNT; i++)
                if (picked[i] >= 0) value.at[i] = table[picked[i]];
            store_pack(task.out + spots[row].out + column * inner.out, value);
        }
    }
}

template <int INDEX, int VECTOR, int COUNT>
KERNEL_CODE void move_group(const struct cuda_task &task, const block &b, int thread, int64_t first_row,
                            int rows)
{
    if (task.shares_indices)
        move_shared<INDEX, VECTOR, COUNT>(task, b, thread, first_row, rows);
    else
        move_staged<INDEX, VECTOR, COUNT>(task, b, thread, first_row, rows);
}

template <int INDEX, int VECTOR> KERNEL_CODE void move_tables(const struct cuda_task &task, const block &b)
{
    struct row_spot *spots = (struct row_spot *)b.shared;
    char *tables = b.shared + spots_bytes(task.group);
    for (int64_t group = b.number; group < task.items; group += b.blocks) {
        const int64_t first_row = group * task.group;
        const int rows = (int)(task.rows - first_row < task.group ? task.rows - first_row : task.group);
        all_threads(b, [&](int thread) {
            if (thread < rows) spots[thread] = find_spot(task, task.rank - 1, first_row + thread);
        });
        all_threads(b, [&](int thread) {
            copy_vectors<VECTOR>(
                task.copy, rows * task.staged / task.copy, thread, b.threads, tables, [&](uint32_t v) {
                    const uint32_t row = task.group > 1 ? divide(v, task.by_vectors) : 0;
                    return task.data + spots[row].data + (int64_t)(v - row * task.by_vectors.by) * task.copy;
                });
        });
        all_threads(b, [&](int thread) {
            if (task.packs_points)
                move_group<INDEX, VECTOR, packed_points<VECTOR>::COUNT>(task, b, thread, first_row, rows);
            else
                move_group<INDEX, VECTOR, 1>(task, b, thread, first_row, rows);
        });
    }
}

/* ---- PANEL ---- */

/* The panel of a block: columns [column, column + columns) of rows [row, row_end) of one table. */
struct panel {
    struct row_spot spot; /* of the first column in row 0 */
    int64_t first_point;  /* the number of that point */
    int64_t row, row_end;
    int columns;
};

KERNEL_CODE struct panel find_panel(const struct cuda_task &task, int64_t number)
{
    const struct dim &column = task.level[task.rank - 1].dim, &row = task.level[task.rank - 2].dim;
    const int64_t part = number % task.parts, strip = number / task.parts,
                  width = (int64_t)1 << task.panel_shift;
    const int64_t outer = strip / task.panels, first = (strip - outer * task.panels) * width;
    const int64_t share = (row.n + task.parts - 1) / task.parts;
    struct panel panel;
    panel.spot = spot_along(find_spot(task, task.rank - 2, outer), column, first);
    panel.first_point = outer * row.n * column.n + first;
    panel.row = part * share;
    panel.row_end = panel.row + share < row.n ? panel.row + share : row.n;
    panel.columns = (int)(column.n - first < width ? column.n - first : width);
    return panel;
}

/* Copies the first rows of the panel; a narrow one, at the end of a row, element by element. */
template <int VECTOR>
KERNEL_CODE void copy_panel(const struct cuda_task &task, const block &b, const struct panel &panel,
                            int thread)
{
    const int64_t stride = task.level[0].axis.stride;
    const char *data = task.data + panel.spot.data;
    const int width = 1 << task.panel_shift;
    if (panel.columns == width) {
        const int shift = (int)task.by_vectors.shift; /* a row is 1 << shift vectors */
        copy_vectors<VECTOR>(task.copy, task.staged << shift, thread, b.threads, b.shared, [&](uint32_t v) {
            return data + (int64_t)(v >> shift) * stride + (int64_t)(v & ((1u << shift) - 1)) * task.copy;
        });
        return;
    }
    typedef typename vector_of<VECTOR>::type vector;
    for (int64_t v = thread; v < task.staged << task.panel_shift; v += b.threads) {
        const int64_t column = v & (width - 1);
        if (column < panel.columns)
            ((vector *)b.shared)[v] = load<vector>(data + (v >> task.panel_shift) * stride + column * VECTOR);
    }
}

/* Looks COUNT indices of neighbouring columns up in the panel, and stores what they select. */
template <int INDEX, int VECTOR, int COUNT>
KERNEL_CODE void move_from_panel(const struct cuda_task &task, const char *panel,
                                 const int64_t (&index)[COUNT], int64_t point, const char *data, char *out)
{
    typedef typename vector_of<VECTOR>::type vector;
    pack<vector, COUNT> value = {};
    int32_t picked[COUNT];
    check_indices<INDEX>(task, task.level[0].axis, index, point, picked);
    for (int i = 0; i < COUNT; i++) {
        if ((uint32_t)picked[i] < (uint32_t)task.staged)
            value.at[i] = ((const vector *)panel)[(picked[i] << task.panel_shift) + i];
        else if (picked[i] >= 0)
            value.at[i] = load<vector>(data + picked[i] * task.level[0].axis.stride + i * VECTOR);
    }
    store_pack(out, value);
}

/* Moves the points of the panel, COUNT columns at a time. */
template <int INDEX, int VECTOR, int COUNT>
KERNEL_CODE void move_panel(const struct cuda_task &task, const block &b, const struct panel &panel,
                            int thread)
{
    constexpr int flight = IN_FLIGHT_PANEL;
    constexpr int count_shift = COUNT == 4 ? 2 : COUNT == 2 ? 1 : 0;
    const struct dim &along = task.level[task.rank - 1].dim, &down = task.level[task.rank - 2].dim;
    const int shift = task.panel_shift - count_shift, rows_at_once = b.threads >> shift;
    const int column = (thread & ((1 << shift) - 1)) * COUNT;
    const struct row_spot spot = spot_along(panel.spot, along, column);
    const int rows = (int)(panel.row_end - panel.row);
    if (column >= panel.columns) return;
    const int64_t first_index = spot.index + panel.row * down.index,
                  point = panel.first_point + panel.row * along.n + column;
    char *out = task.out + spot.out + panel.row * down.out;
    for (int row = thread >> shift; row < rows; row += flight * rows_at_once) {
        int64_t index[flight][COUNT];
        for (int i = 0; i < flight; i++)
            if (row + i * rows_at_once < rows)
                load_indices<INDEX, COUNT>(task, first_index + (row + i * rows_at_once) * down.index,
                                           index[i]);
        for (int i = 0; i < flight; i++) {
            const int here = row + i * rows_at_once;
            if (here >= rows) break;
            move_from_panel<INDEX, VECTOR, COUNT>(task, b.shared + column * VECTOR, index[i],
                                                  point + here * along.n, task.data + spot.data,
                                                  out + here * down.out);
        }
    }
}

template <int INDEX, int VECTOR> KERNEL_CODE void move_panels(const struct cuda_task &task, const block &b)
{
    for (int64_t number = b.number; number < task.items; number += b.blocks) {
        const struct panel panel = find_panel(task, number);
        all_threads(b, [&](int thread) { copy_panel<VECTOR>(task, b, panel, thread); });
        all_threads(b, [&](int thread) {
            if (task.packs_points)
                move_panel<INDEX, VECTOR, packed_points<VECTOR>::COUNT>(task, b, panel, thread);
            else
                move_panel<INDEX, VECTOR, 1>(task, b, panel, thread);
        });
    }
}

#endif
