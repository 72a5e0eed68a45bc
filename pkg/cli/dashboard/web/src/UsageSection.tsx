// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useMemo, type ReactNode } from 'react'
import { Failure, Loading, Table } from './parts'
import { Plot, type Line } from './plot'
import type { ModelBox } from './types'
import { secondsOf, usageSpan, useUsage, type Measurement } from './usage'

const formatCPU = (millicores: number): string => (millicores < 1000 ? `${Math.round(millicores)}m` : String(Math.round(millicores / 10) / 100))

function formatMemory(bytes: number): string {
  const mebibytes = bytes / 2 ** 20
  return mebibytes < 1024 ? `${Math.round(mebibytes)}Mi` : `${Math.round((mebibytes / 1024) * 100) / 100}Gi`
}

function linesOf(measurements: Measurement[], resource: 'cpu' | 'memory'): Line[] {
  return [
    { label: 'used', role: 'value', values: measurements.map((one) => one[resource].used) },
    // Without a request, there is nothing to compare with.
    { label: 'requested', role: 'limit', values: measurements.map((one) => one[resource].requested || null) },
  ]
}

function Containers({ containers }: Pick<Measurement, 'containers'>): ReactNode {
  return (
    <Table columns={['Container', 'Pods', 'CPU', 'Request', 'Recommended', 'Memory', 'Request', 'Recommended']}>
      {containers.map(({ name, pods, cpu, memory }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{pods}</td>
          {[cpu, memory].map(({ used, requested, recommended }, index) => [
            <td key={`used ${index}`}>{used}</td>,
            <td key={`requested ${index}`}>{requested ?? <span className="quiet">none</span>}</td>,
            <td key={`recommended ${index}`}>{recommended}</td>,
          ])}
        </tr>
      ))}
    </Table>
  )
}

// UsageSection shows the CPU and the memory that the pods of a box use, against what they request.
export function UsageSection({ box }: { box: ModelBox }): ReactNode {
  const { measurements, latest, error } = useUsage(box)
  const times = useMemo(() => measurements.map(secondsOf), [measurements])
  const cpu = useMemo(() => linesOf(measurements, 'cpu'), [measurements])
  const memory = useMemo(() => linesOf(measurements, 'memory'), [measurements])
  return (
    <>
      {error && <Failure what="the usage" error={error} />}
      {!latest && !error && <Loading />}
      {latest && (
        <p className="quiet" role="status">
          {latest.measured} of {latest.pods} running pods measured
        </p>
      )}
      {measurements.length > 0 && (
        <div className="plots">
          <Plot label="CPU" times={times} lines={cpu} format={formatCPU} span={usageSpan} />
          <Plot label="Memory" times={times} lines={memory} format={formatMemory} isBinary span={usageSpan} />
        </div>
      )}
      {latest && latest.containers.length > 0 && (
        <>
          <h2>Containers</h2>
          <p className="quiet">The highest usage of a pod now. The recommended request is 125% of it: measure under load before you set it.</p>
          <Containers containers={latest.containers} />
        </>
      )}
    </>
  )
}
