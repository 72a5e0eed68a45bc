#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Gives the files and folders of a checkout modification times that depend on their content only. "go test" repeats the tests of a package
# if a file that they read has a new modification time, as all files of a new checkout do. The script changes nothing if a file is not
# committed, because the content would change and the time would not.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! changes=$(git status --porcelain) || [[ -n "${changes}" ]] || ! command -v perl >/dev/null; then
  echo "the modification times of files are kept: tests that read files are repeated"
  exit
fi

# The time is the beginning of the hash of the content, as seconds since 1970. It is before 1979.
git ls-tree -r -t -z HEAD |
  perl -0 -ne 'chomp; my ($entry, $path) = split /\t/, $_, 2; my $time = hex substr((split / /, $entry)[2], 0, 7); utime $time, $time, $path'
