"""Exports of finished runs, one entry of `export.EXPORT_FORMATS` for each form."""
