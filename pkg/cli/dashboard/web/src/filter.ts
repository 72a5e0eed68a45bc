// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// matches returns whether all words are in some of the texts.
export function matches(filter: string, texts: (string | undefined)[]): boolean {
  const text = texts.join('\n').toLowerCase()
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}
