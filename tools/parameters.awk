# SPDX-License-Identifier: MIT
#
# Finds functions with too many parameters. awk -v most=6 -f tools/parameters.awk FILE... prints a line for each, be it
# declared or defined, in a class, a macro or a template. A function begins where a line has at least two words, or a
# word and a list of a template, before its first parenthesis, and nothing that only statements have.

# A line without comments, texts and attributes; the end of a line of a macro is none.
function bare(line,    before) {
    gsub(/"([^"\\]|\\.)*"/, "0", line)
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
    sub(/\/\/.*/, "", line)
    sub(/[ \t]*\\$/, "", line)
    while (match(line, /__attribute__\(\([a-z_]*(\([^()]*\))?\)\)/))
        line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
    return line
}

# The name before the first parenthesis of a function; "" if the line begins none.
function name_of(line,    head) {
    if (line !~ /^[ \t]*[A-Za-z_][A-Za-z_0-9]*[^;={}#()]*\(/) return ""
    head = substr(line, 1, index(line, "(") - 1)
    sub(/^[ \t]*/, "", head)
    if (head ~ /^(return|else|case|goto|throw|delete|typedef)[^A-Za-z_0-9]/) return ""
    sub(/^template *<[^()]*> */, "x ", head)
    if (head ~ /,/ || head !~ /[A-Za-z_0-9>][ *&]+[A-Za-z_0-9:~]+$/) return ""
    sub(/.*[ *&]/, "", head)
    return head ~ /^(if|for|while|switch|return|sizeof)$/ ? "" : head
}

# How many parameters a list has that begins with its parenthesis: the last one of lists that follow each other, as in
# NAME(LEVEL)(parameters).
function count_of(list,    depth, commas, i, c, rest) {
    for (i = 1; i <= length(list); i++) {
        c = substr(list, i, 1)
        if (c == "(") depth++
        if (c == "," && depth == 1) commas++
        if (c != ")" || --depth > 0) continue
        rest = substr(list, i + 1)
        return rest ~ /^ *\(/ ? count_of(rest) : commas + 1
    }
    return 0
}

FNR == 1 { name = "" }
{ line = bare($0) }
name == "" {
    name = name_of(line)
    if (name == "") next
    list = ""
    at = FNR
    line = substr(line, index(line, "("))
}
{ list = list " " line }
/^[ \t]*$/ || line ~ /[;{}]/ {
    count = count_of(substr(list, index(list, "(")))
    if (count > most) print FILENAME ":" at ": " name " has " count " parameters"
    name = ""
}
