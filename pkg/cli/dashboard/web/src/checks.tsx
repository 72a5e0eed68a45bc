// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { checkHealth, limitOf } from './health'
import { Status } from './parts'
import type { ModelBox } from './types'

// Checks shows the results of the checks in the step that the rollout of a box is in, or has failed in.
export function Checks({ box }: { box: ModelBox }): ReactNode {
  const checks = box.spec.rollout?.checks ?? []
  const results = (box.status?.rollout?.checks ?? []).flatMap((result) => {
    const check = checks.find(({ name }) => name === result.name)
    return check ? [{ check, result }] : []
  })
  if (results.length === 0) return null
  return (
    <>
      <h2>Checks</h2>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Step</th>
              <th scope="col">Succeeded</th>
              <th scope="col">Failed</th>
              <th scope="col">Inconclusive</th>
              <th scope="col">Value</th>
              <th scope="col">Limit</th>
              <th scope="col">Message</th>
            </tr>
          </thead>
          <tbody>
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
                <td>{limitOf(check)}</td>
                <td className="message">{result.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
