"""Dabt's pure package: what the site's adapters and the command line are made of.

It imports nothing from MkDocs, torch or git: it takes paths and texts, and returns values
or problems.
"""
