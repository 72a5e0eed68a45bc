// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { summaryOf, type Summary } from '../../../pkg/cli/dashboard/web/src/health'
import type { Debugger } from './types'

export const debuggerSummary = (podDebugger: Debugger): Summary => summaryOf(podDebugger, 'PodDebugger')

// selectorOf is the selector of a PodDebugger in the words of kubectl get.
export function selectorOf({ spec: { selector } }: Debugger): string {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator.toLowerCase()} (${values.join(',')})`
  })
  return [...labels, ...expressions].join(',')
}

export function debuggedPods({ status }: Debugger): string {
  return `${status?.runningPods ?? 0}/${status?.debuggedPods ?? 0}`
}
