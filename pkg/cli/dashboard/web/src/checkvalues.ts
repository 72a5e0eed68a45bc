// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import type { CheckResult, ModelBox } from './types'

// CheckValues are the values of a check that the page has seen in the rollout of a box.
export interface CheckValues {
  // times are in seconds since 1970.
  times: number[]
  // values has null for a measurement without a value.
  values: (number | null)[]
}

interface SeenChecks {
  podsHash?: string
  // counts are the numbers of measurements that the values are of, by the names of checks.
  counts: Map<string, string>
  values: Map<string, CheckValues>
}

// How many values of a check are kept.
const mostValues = 200
const seenChecks = new Map<string, SeenChecks>()

const countOf = ({ step, successes = 0, failures = 0, inconclusive = 0 }: CheckResult): string => [step, successes, failures, inconclusive].join()

// checkValues returns the values of the checks of a box by their names, with the ones in its status. The status of the same measurement adds
// nothing.
export function checkValues({ metadata, status }: ModelBox): Map<string, CheckValues> {
  const podsHash = status?.rollout?.podsHash
  let seen = seenChecks.get(metadata.uid)
  if (!seen || seen.podsHash !== podsHash) {
    seen = { podsHash, counts: new Map(), values: new Map() }
    seenChecks.set(metadata.uid, seen)
  }
  for (const result of status?.rollout?.checks ?? []) {
    const count = countOf(result)
    if (seen.counts.get(result.name) === count) continue
    seen.counts.set(result.name, count)
    const { times, values } = seen.values.get(result.name) ?? { times: [], values: [] }
    const value = result.value === undefined ? NaN : Number(result.value)
    seen.values.set(result.name, {
      times: [...times, Date.now() / 1000].slice(-mostValues),
      values: [...values, Number.isFinite(value) ? value : null].slice(-mostValues),
    })
  }
  return seen.values
}
