"""What the README and the pages of results say of each benchmark, from its JSON alone.

One module for each JSON file under ``benchmarks/results``, of the same name. It may have

    ORDER            where its section stands in the README; 100 unless said
    readme(result)   that section, as Markdown
    PAGE             a page under docs/results
    tables(result)   the tables of that page, by the name that stands in its markers

and imports nothing that only a benchmark needs: CI reads these, and measures nothing.
"""
