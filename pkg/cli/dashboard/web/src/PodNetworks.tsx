// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { Table } from './parts'
import type { ModelBox } from './types'

// PodNetworks shows the addresses of the pods of boxes in networks, or in one network, and nothing without such addresses.
export function PodNetworks({ boxes, network }: { boxes: readonly ModelBox[]; network?: string }): ReactNode {
  const rows = boxes.flatMap((box) => (box.status?.podNetworks ?? []).filter((pod) => !network || pod.network === network).map((pod) => ({ box: box.metadata.name, ...pod })))
  if (rows.length === 0) return null
  return (
    <>
      <h2>{network ? 'Addresses' : 'Networks'}</h2>
      <Table columns={['Pod', network ? 'Box' : 'Network', 'Interface', 'Addresses']}>
        {rows.map((row) => (
          <tr key={`${row.pod} ${row.network} ${row.interface}`}>
            <th scope="row">{row.pod}</th>
            <td>{network ? <a href={`#/boxes/${row.box}`}>{row.box}</a> : <NetworkName name={row.network} />}</td>
            <td>{row.interface}</td>
            <td className="message">{row.addresses?.join(', ')}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

// NetworkName has no link for a network of another namespace, which has a "/" in its name.
function NetworkName({ name }: { name: string }): ReactNode {
  return name.includes('/') ? name : <a href={`#/networks/${name}`}>{name}</a>
}
