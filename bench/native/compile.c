/*
 * The limit: the usual compile (RemoveComments, TrimLines, Compress, Validate, Deduplicate, RemoveEmptyLines,
 * InsertFinalNewLine at the top level) as a plain C program without fates, provenance, configuration or reports.
 *
 *   compile OUTPUT SUFFIXES INPUT…
 *
 * SUFFIXES holds the ICANN rules of the public suffix list, one a line. Rules that are more than a name are kept when they
 * use only the characters and modifiers of DNS rules; the few shapes that our validator judges more closely are not
 * judged here, which bench/compare.ts reports as a difference.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct { const uint8_t *text; uint32_t length; uint32_t hash; } Name;
/* kind 0: a name, written ||name^; kind 1: text as it is */
typedef struct { const uint8_t *text; uint32_t length; uint32_t hash; uint8_t kind; uint8_t dead; } Row;

static Row *rows;
static size_t rowCount, rowCapacity;
static uint8_t isHost[256], isPattern[256];

static uint32_t hashEnd(uint32_t h) {
  h ^= h >> 15; h *= 0x2c1b3c6dU; h ^= h >> 12; h *= 0x297a2d39U;
  return h ^ (h >> 15);
}
static uint32_t hashOf(const uint8_t *text, uint32_t length) {
  uint32_t h = 0x811c9dc5U;
  for (uint32_t at = length; at > 0; at--) h = (h ^ text[at - 1]) * 0x01000193U;
  return hashEnd(h);
}

typedef struct { uint32_t *slots; uint32_t mask; } Table;
static Table tableFor(size_t count) {
  uint32_t size = 1024;
  while (size < count * 2) size *= 2;
  Table table = {calloc(size, 4), size - 1};
  return table;
}
static int64_t find(const Table *table, const Row *in, uint32_t hash, const uint8_t *text, uint32_t length) {
  for (uint32_t slot = hash & table->mask; table->slots[slot]; slot = (slot + 1) & table->mask) {
    const Row *row = &in[table->slots[slot] - 1];
    if (row->hash == hash && row->length == length && memcmp(row->text, text, length) == 0) return table->slots[slot] - 1;
  }
  return -1;
}
static void add(Table *table, uint32_t hash, size_t index) {
  uint32_t slot = hash & table->mask;
  while (table->slots[slot]) slot = (slot + 1) & table->mask;
  table->slots[slot] = (uint32_t)index + 1;
}

static void push(const uint8_t *text, uint32_t length, uint8_t kind) {
  if (rowCount == rowCapacity) rows = realloc(rows, (rowCapacity = rowCapacity ? rowCapacity * 2 : 1 << 20) * sizeof(Row));
  Row row = {text, length, hashOf(text, length), kind, 0};
  rows[rowCount++] = row;
}

/* Letters, digits, inner hyphens, labels of 1-63, at least one dot. */
static int isDomain(const uint8_t *text, uint32_t length) {
  uint32_t label = 0; int dots = 0;
  if (length == 0 || length > 255) return 0;
  for (uint32_t at = 0; at < length; at++) {
    uint8_t byte = text[at];
    if (!isHost[byte]) return 0;
    if (byte == '.') {
      if (label == 0 || label > 63 || text[at - 1] == '-') return 0;
      dots++; label = 0;
    } else {
      if (label == 0 && byte == '-') return 0;
      label++;
    }
  }
  return dots > 0 && label > 0 && label < 64 && text[length - 1] != '-';
}

static int hasWord(const uint8_t *text, uint32_t length, const char *word) {
  size_t size = strlen(word);
  return length >= size && memcmp(text, word, size) == 0 && (length == size || text[size] == '=');
}
static int isModifiers(const uint8_t *text, uint32_t length) {
  static const char *known[] = {"important", "~important", "dnstype", "dnsrewrite", "ctag", "denyallow", "badfilter", "client"};
  uint32_t start = 0;
  for (uint32_t at = 0; at <= length; at++) {
    if (at < length && text[at] != ',') continue;
    int ok = at == start;
    for (size_t i = 0; i < sizeof known / sizeof *known && !ok; i++) ok = hasWord(text + start, at - start, known[i]);
    if (!ok) return 0;
    start = at + 1;
  }
  return 1;
}
static int isRule(const uint8_t *text, uint32_t length) {
  if (length >= 2 && text[0] == '@' && text[1] == '@') { text += 2; length -= 2; }
  if (length > 2 && text[0] == '/' && text[length - 1] == '/') return length >= 5;
  uint32_t pattern = length;
  for (uint32_t at = length; at > 0; at--) if (text[at - 1] == '$') { pattern = at - 1; break; }
  if (pattern < length && !isModifiers(text + pattern + 1, length - pattern - 1)) return 0;
  if (pattern < 5) return 0;
  for (uint32_t at = 0; at < pattern; at++) if (!isPattern[text[at]]) return 0;
  return 1;
}

static void readLine(const uint8_t *text, uint32_t length) {
  while (length && (text[0] == ' ' || text[0] == '\t')) { text++; length--; }
  while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  if (length == 0 || text[0] == '!') return;
  if (text[0] == '#' && (length == 1 || text[1] == ' ' || (length > 3 && memcmp(text, "####", 4) == 0))) return;
  if (length > 3 && text[0] == '|' && text[1] == '|' && text[length - 1] == '^' && isDomain(text + 2, length - 3)) { push(text + 2, length - 3, 0); return; }
  if (isDomain(text, length)) { push(text, length, 0); return; }
  if ((text[0] >= '0' && text[0] <= '9') || text[0] == ':') {
    uint32_t at = 0;
    while (at < length && text[at] != ' ' && text[at] != '\t') at++;
    if (at < length) {
      while (at < length && text[at] != '#') {
        while (at < length && (text[at] == ' ' || text[at] == '\t')) at++;
        uint32_t start = at;
        while (at < length && text[at] != ' ' && text[at] != '\t' && text[at] != '#') at++;
        if (at > start && isDomain(text + start, at - start)) push(text + start, at - start, 0);
      }
      return;
    }
  }
  if (isRule(text, length)) push(text, length, 1);
}

static const uint8_t *mapFile(const char *path, size_t *size) {
  int file = open(path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) { perror(path); exit(1); }
  *size = (size_t)info.st_size;
  const uint8_t *bytes = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0) : NULL;
  close(file);
  return bytes;
}

int main(int argc, char **argv) {
  if (argc < 4) { fprintf(stderr, "usage: compile OUTPUT SUFFIXES INPUT...\n"); return 2; }
  for (int byte = 0; byte < 256; byte++) {
    isHost[byte] = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '.' || byte == '-';
    isPattern[byte] = isHost[byte] || byte == '*' || byte == '|' || byte == '^' || byte == '_';
  }
  for (int i = 3; i < argc; i++) {
    size_t size;
    const uint8_t *bytes = mapFile(argv[i], &size), *end = bytes + size;
    for (const uint8_t *at = bytes; at < end;) {
      const uint8_t *next = memchr(at, '\n', (size_t)(end - at));
      if (next == NULL) next = end;
      uint32_t length = (uint32_t)(next - at);
      if (length && at[length - 1] == '\r') length--;
      readLine(at, length);
      at = next + 1;
    }
  }
  size_t inputs = rowCount;
  size_t size;
  const uint8_t *list = mapFile(argv[2], &size);
  for (size_t start = 0, at = 0; at < size; at++) if (list[at] == '\n') { push(list + start, (uint32_t)(at - start), 0); start = at + 1; }
  Table suffixes = tableFor(rowCount - inputs);
  for (size_t i = inputs; i < rowCount; i++) add(&suffixes, rows[i].hash, i);
  Table names = tableFor(inputs), texts = tableFor(1 << 16);
  for (size_t i = 0; i < inputs; i++) {
    Row *row = &rows[i];
    if (row->kind == 0 && find(&suffixes, rows, row->hash, row->text, row->length) >= 0) { row->dead = 1; continue; }
    Table *table = row->kind == 0 ? &names : &texts;
    if (find(table, rows, row->hash, row->text, row->length) >= 0) row->dead = 1;
    else add(table, row->hash, i);
  }
  for (size_t i = 0; i < inputs; i++) {
    Row *row = &rows[i];
    if (row->dead || row->kind != 0) continue;
    uint32_t h = 0x811c9dc5U;
    for (uint32_t at = row->length; at > 0; at--) {
      if (row->text[at - 1] == '.' && find(&names, rows, hashEnd(h), row->text + at, row->length - at) >= 0) { row->dead = 2; break; }
      h = (h ^ row->text[at - 1]) * 0x01000193U;
    }
  }
  FILE *out = fopen(argv[1], "wb");
  if (out == NULL) { perror(argv[1]); return 1; }
  setvbuf(out, NULL, _IOFBF, 1 << 20);
  for (size_t i = 0; i < inputs; i++) {
    const Row *row = &rows[i];
    if (row->dead) continue;
    if (row->kind == 0) fwrite("||", 1, 2, out);
    fwrite(row->text, 1, row->length, out);
    fputs(row->kind == 0 ? "^\n" : "\n", out);
  }
  return fclose(out) == 0 ? 0 : 1;
}
