// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import type { PodNetwork } from '../../../pkg/cli/dashboard/web/src/types'
import type { ModelBox } from './classes'
import { ObjectLink, TableSection } from './parts'

type Row = PodNetwork & { box: ModelBox }

// PodNetworks shows the addresses of the pods of boxes in networks, or in one network, and nothing without such addresses.
export function PodNetworks({ boxes, network }: { boxes: ModelBox[]; network?: string }): ReactNode {
  const rows = boxes.flatMap((box) => (box.box.status?.podNetworks ?? []).filter((pod) => !network || pod.network === network).map((pod): Row => ({ box, ...pod })))
  if (rows.length === 0) return null
  return (
    <TableSection<Row>
      title={network ? 'Addresses' : 'Networks'}
      rows={rows}
      columns={[
        { label: 'Pod', cell: ({ pod }) => pod },
        network ? { label: 'Box', cell: BoxLink } : { label: 'Network', cell: NetworkLink },
        { label: 'Interface', cell: (row) => row.interface },
        { label: 'Addresses', cell: ({ addresses }) => addresses?.join(', ') },
      ]}
    />
  )
}

function BoxLink({ box: { cluster, metadata } }: Row): ReactNode {
  return <ObjectLink route="ModelBox" namespace={metadata.namespace} name={metadata.name} cluster={cluster} />
}

// NetworkLink is no link for a network of another namespace, which has a "/" in its name.
function NetworkLink({ box: { cluster, metadata }, network }: Row): ReactNode {
  return network.includes('/') ? network : <ObjectLink route="ModelBoxNetwork" namespace={metadata.namespace} name={network} cluster={cluster} />
}
