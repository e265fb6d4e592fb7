#!/usr/bin/env bash
# Usage: build-opentofu.sh VERSION FILE
# Builds OpenTofu from the Go module proxy into FILE. Its go.mod has replace lines, which `go install pkg@version` refuses,
# so the module is downloaded and built in its own folder.
set -euo pipefail
version=$1 file=$2
if [[ -x $file ]]; then exit 0; fi
echo "building OpenTofu $version, once; this takes some minutes" >&2
folder=$(go mod download -json "github.com/opentofu/opentofu@$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",\{0,1\}$/\1/p')
if [[ -z $folder ]]; then
	echo "OpenTofu $version could not be downloaded from the Go module proxy; install terraform or tofu instead" >&2
	exit 1
fi
cd "$folder"
CGO_ENABLED=0 go build -trimpath -ldflags '-X github.com/opentofu/opentofu/version.dev=no' -o "$file.new" ./cmd/tofu
mv "$file.new" "$file"
