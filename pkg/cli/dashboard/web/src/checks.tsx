// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { memo, useMemo, type ReactNode } from 'react'
import { checkValues, type CheckValues } from './checkvalues'
import { checkHealth, limitOf } from './health'
import { Status, Table } from './parts'
import { Plot, type Line } from './plot'
import type { ModelBox } from './types'

// CheckPlot draws the values of a check between its limits.
const CheckPlot = memo(function CheckPlot({ name, min, max, values: { times, values } }: { name: string; min?: string; max?: string; values: CheckValues }): ReactNode {
  const lines = useMemo(
    () => [
      { label: 'value', role: 'value' as const, values },
      ...Object.entries({ min, max }).flatMap(([label, limit]): Line[] => (limit === undefined ? [] : [{ label, role: 'limit', values: values.map(() => Number(limit)) }])),
    ],
    [min, max, values],
  )
  return <Plot label={`Values of ${name}`} times={times} lines={lines} format={String} isSmall />
})

const noValues: CheckValues = { times: [], values: [] }

// Checks shows the results of the checks in the step that the rollout of a box is in, or has failed in.
export function Checks({ box }: { box: ModelBox }): ReactNode {
  const checks = box.spec.rollout?.checks ?? []
  const values = useMemo(() => checkValues(box), [box])
  const results = (box.status?.rollout?.checks ?? []).flatMap((result) => {
    const check = checks.find(({ name }) => name === result.name)
    return check ? [{ check, result }] : []
  })
  if (results.length === 0) return null
  return (
    <>
      <h2>Checks</h2>
      <Table columns={['Check', 'Step', 'Succeeded', 'Failed', 'Inconclusive', 'Value', 'Values', 'Limit', 'Message']}>
        {results.map(({ check, result }) => (
          <tr key={check.name}>
            <th scope="row">
              <Status health={checkHealth(check, result)}>{check.name}</Status>
            </th>
            <td>{result.step}</td>
            <td>
              {result.successes ?? 0} of {check.count ?? 1}
            </td>
            <td>{result.failures ?? 0}</td>
            <td>{result.inconclusive ?? 0}</td>
            <td>{result.value}</td>
            <td>
              <CheckPlot name={check.name} min={check.min} max={check.max} values={values.get(check.name) ?? noValues} />
            </td>
            <td>{limitOf(check)}</td>
            <td className="message">{result.message}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}
