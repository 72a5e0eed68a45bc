// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { DetailsGrid } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { freeAddresses, networkSummary } from '../../../pkg/cli/dashboard/web/src/health'
import { ModelBox, Network } from './classes'
import { Conditions } from './conditions'
import { Events } from './events'
import { FailureText, ObjectLink, StatusWithMessage } from './parts'
import { PodNetworks } from './podnetworks'

function Boxes({ object: { cluster, metadata, network } }: { object: Network }): ReactNode {
  const { boxes = [], boxesOmitted = 0 } = network.status ?? {}
  return (
    <>
      {boxes.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <ObjectLink route="ModelBox" namespace={metadata.namespace} name={name} cluster={cluster} />
        </span>
      ))}
      {boxesOmitted > 0 && ` and ${boxesOmitted} more`}
    </>
  )
}

function factsOf(object: Network) {
  const { spec, status } = object.network
  return [
    { name: 'Status', value: <StatusWithMessage summary={networkSummary(object.network)} /> },
    { name: 'CIDR', value: spec.cidr },
    { name: 'Gateway', value: spec.gateway },
    { name: 'Type', value: spec.type },
    { name: 'Interface', value: spec.master, hide: !spec.master },
    { name: 'VLAN', value: spec.vlan, hide: !spec.vlan },
    { name: 'MTU', value: spec.mtu, hide: !spec.mtu },
    { name: 'Routes', value: spec.routes?.join(', '), hide: !spec.routes?.length },
    { name: 'Addresses', value: `${status?.usedAddresses ?? 0} used, ${freeAddresses(object.network)} free` },
    { name: 'Boxes', value: <Boxes object={object} />, hide: !status?.boxes?.length },
  ]
}

function NetworkSections({ object }: { object: Network }): ReactNode {
  const { namespace, name, uid } = object.metadata
  const { items: boxes, error } = ModelBox.useList({ namespace, cluster: object.cluster })
  return (
    <>
      {error && <FailureText what="modelboxes" error={error} />}
      <PodNetworks boxes={boxes ?? []} network={name} />
      <Conditions conditions={object.network.status?.conditions} />
      <Events namespace={namespace} cluster={object.cluster} uids={new Set([uid])} />
    </>
  )
}

export function NetworkDetails({ namespace, name, cluster }: { namespace: string; name: string; cluster?: string }): ReactNode {
  return (
    <DetailsGrid
      resourceType={Network}
      namespace={namespace}
      name={name}
      cluster={cluster}
      extraInfo={(object) => object && factsOf(object)}
      extraSections={(object) => object && [{ id: 'modelbox-sections', section: <NetworkSections object={object} /> }]}
    />
  )
}
