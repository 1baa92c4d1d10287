# SPDX-License-Identifier: MIT
#
# Finds circles of calls. awk -f tools/circles.awk FILE... prints a line for each: a chain of files, and the
# functions through which each needs the next. A module is x.c with x.h. It needs another one if it names a function, an
# object or a macro that the other one defines, be it to call it or to put it into a table, and if a header that it
# includes declares that: so two folders may have functions of the same name.
#
# Reads sources and needs no build. It relies on the format of this tree: what begins at the left edge is a
# definition or a declaration, and the brace of a function stands there alone.

function base(path) { sub(/.*\//, "", path); return path }
function module(path) { sub(/\.[a-z]*$/, "", path); return path }

# A line without comments, texts and characters.
function bare(line,    at) {
    if (in_comment) {
        at = index(line, "*/")
        if (!at) return ""
        line = substr(line, at + 2)
        in_comment = 0
    }
    gsub(/'([^'\\]|\\.)+'/, "0", line)
    gsub(/"([^"\\]|\\.)*"/, "0", line)
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
    sub(/\/\/.*/, "", line)
    at = index(line, "/*")
    in_comment = at > 0
    return at ? substr(line, 1, at - 1) : line
}

# The word that stands before a pattern, given as a text; "" if there is none.
function word_before(text, pattern) {
    if (!match(text, "[A-Za-z_][A-Za-z_0-9]*" pattern)) return ""
    text = substr(text, RSTART, RLENGTH)
    match(text, /^[A-Za-z_0-9]+/)
    return substr(text, 1, RLENGTH)
}

function define(name) {
    declared[FILENAME, name] = 1
    if (index(definers[name], " " here " ") == 0) definers[name] = definers[name] " " here " "
}

# Notes what a text at the left edge says, with the lines that go on with it; `brace` if a function's body follows.
function end_head(brace,    text, list, count, i) {
    text = head
    head = ""
    gsub(/__attribute__\(\([^()]*(\([^()]*\))*[^()]*\)\)/, " ", text)
    gsub(/(^|[ ])[A-Z_][A-Z_0-9]*\([^()]*\)/, " ", text) # macros that stand for attributes
    if (text == "" || text ~ /^(typedef|enum|namespace|using|#)/ || (!header && text ~ /^static /)) return
    if (brace) define(word_before(text, "\\("))
    else if (text ~ /^extern /) {
        gsub(/[^A-Za-z_0-9]+/, " ", text)
        count = split(text, list, " ")
        for (i = 1; i <= count; i++) declared[FILENAME, list[i]] = 1
    } else if (text ~ /^[^(=]*( =|;)/ && text !~ /^(struct|union|class) [A-Za-z_0-9]+[ ]*[{;]/) define(word_before(text, "[ ]*(\\[[^=;]*)?( =|;)"))
    else declared[FILENAME, word_before(text, "\\(")] = 1
}

function note_words(line,    name) {
    gsub(/(->|\.|(struct|enum|union) )[A-Za-z_][A-Za-z_0-9]*/, " ", line) # fields and tags
    while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
        name = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if ((FILENAME, name) in noted) continue
        noted[FILENAME, name] = 1
        words[FILENAME] = words[FILENAME] " " name
    }
}

FNR == 1 {
    head = ""
    in_comment = 0
    here = module(FILENAME)
    header = FILENAME ~ /\.(h|hpp)$/
    file_of[base(FILENAME)] = FILENAME
    in_function = in_macro = 0
    if (FILENAME ~ /\.c(pp)?$/ || !(here in shown)) shown[here] = FILENAME
}
/^#[ ]*include[ ]+"/ {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    includes[FILENAME] = includes[FILENAME] " " base(name)
    next
}
{
    line = bare($0)
    if (line ~ /^#[ ]*define[ ]+[A-Za-z_0-9]+\(/) {
        name = word_before(substr(line, index(line, "define") + 6), "\\(")
        if (header) define(name)
        else own[FILENAME, name] = 1
    }
    if (line ~ /^[A-Za-z_]/) {
        end_head(0)
        head = line
    } else if (line ~ /^[{}#]/) end_head(line ~ /^\{/)
    else if (head != "") head = head line
    if (head ~ /;[ ]*$/) end_head(0)

    # A header declares what others define; what it needs itself stands in its functions and macros.
    if (line ~ /^[{}]/) in_function = line ~ /^\{/
    in_macro = line ~ /^#[ ]*define / || (in_macro && goes_on)
    goes_on = line ~ /\\$/
    if (!header || in_function || in_macro) note_words(line)
}

# Marks in `seen` every file that `path` includes, directly or not.
function include_all(path,    list, count, i, next_path) {
    seen[path] = 1
    count = split(includes[path], list, " ")
    for (i = 1; i <= count; i++) {
        next_path = file_of[list[i]]
        if (next_path != "" && !(next_path in seen)) include_all(next_path)
    }
}

function sees(name,    path) {
    for (path in seen)
        if ((path, name) in declared) return 1
    return 0
}

# What the file `path` needs, by the words of a text: its own, or a .def file that it includes.
function find_needs(path, text,    word, count, from, list, others, i, j) {
    from = module(path)
    count = split(words[text], word, " ")
    for (i = 1; i <= count; i++) {
        if (!(word[i] in definers) || index(definers[word[i]], " " from " ") || (path, word[i]) in own || !sees(word[i])) continue
        others = split(definers[word[i]], list, " ")
        for (j = 1; j <= others; j++) {
            if ((from, list[j]) in through) continue
            through[from, list[j]] = word[i]
            needs[from] = needs[from] " " list[j]
        }
    }
}

# The shortest way from a module back to itself past none that comes before it in the alphabet, as text.
function circle(start,    queue, first, last, came, list, count, i) {
    queue[last = 1] = start
    for (first = 1; first <= last; first++) {
        count = split(needs[queue[first]], list, " ")
        for (i = 1; i <= count; i++) {
            if (list[i] == start) return chain(start, queue[first], came)
            if (list[i] in came || list[i] < start) continue
            came[list[i]] = queue[first]
            queue[++last] = list[i]
        }
    }
    return ""
}

function chain(start, at, came,    text, to) {
    to = start
    text = shown[start]
    for (;;) {
        text = shown[at] " needs " through[at, to] " of " text
        if (at == start) return text
        to = at
        at = came[at]
    }
}

END {
    for (i = 1; i < ARGC; i++) {
        split("", seen)
        include_all(ARGV[i])
        find_needs(ARGV[i], ARGV[i])
        count = split(includes[ARGV[i]], list, " ")
        for (j = 1; j <= count; j++)
            if (list[j] ~ /\.def$/) find_needs(ARGV[i], file_of[list[j]])
    }
    for (from in needs) {
        text = circle(from)
        if (text != "") print text | "sort"
    }
}
