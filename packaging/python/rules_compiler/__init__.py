"""Compiles DNS blocklists. The program is an executable; see rules_compiler.__main__."""
