# A cluster has one set of definitions.
tofu import joiner_crds.this crds
