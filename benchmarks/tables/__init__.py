"""What docs/benchmarks.md and the pages of results say of each benchmark, from its JSON alone.

One module for each JSON file under ``benchmarks/results``, of the same name. It may have

    ORDER            where its section stands in docs/benchmarks.md; 100 unless said
    overview(result) that section, as Markdown; the README has the table of `readme` alone
    PAGE             a page under docs/results
    tables(result)   the tables of that page, by the name that stands in its markers

and imports nothing that only a benchmark needs: CI reads these, and measures nothing.
"""
