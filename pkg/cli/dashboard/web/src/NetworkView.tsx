// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { Conditions, Events } from './conditions'
import { freeAddresses, networkSummary } from './health'
import { useResource } from './hooks'
import { Age, Failure, Loading, Status } from './parts'
import { PodNetworks } from './PodNetworks'
import type { Event, ModelBox, Network } from './types'

export function NetworkView({ name }: { name: string }): ReactNode {
  const networks = useResource<Network>('networks')
  const boxes = useResource<ModelBox>('modelboxes')
  const events = useResource<Event>('events')
  const network = networks.items.find((item) => item.metadata.name === name)
  if (networks.error?.isRefusal) return <Failure what="networks" error={networks.error} />
  if (!network) return networks.isLoaded ? <p className="failure">There is no network {name}.</p> : <Loading />
  const { status, message, health } = networkSummary(network)
  const { spec, status: { boxes: users = [], boxesOmitted = 0, usedAddresses = 0, conditions = [] } = {} } = network
  const facts: [string, ReactNode][] = [
    ['CIDR', spec.cidr],
    ['Gateway', spec.gateway],
    ['Type', spec.type],
    ['Interface', spec.master],
    ['VLAN', spec.vlan],
    ['MTU', spec.mtu],
    ['Routes', spec.routes?.join(', ')],
    ['Addresses', `${usedAddresses} used, ${freeAddresses(network)} free`],
    [
      'Boxes',
      users.length > 0 && (
        <>
          {users.map((user, index) => (
            <span key={user}>
              {index > 0 && ', '}
              <a href={`#/boxes/${user}`}>{user}</a>
            </span>
          ))}
          {boxesOmitted > 0 && ` and ${boxesOmitted} more`}
        </>
      ),
    ],
    ['Age', <Age key="age" from={network.metadata.creationTimestamp} />],
  ]
  return (
    <>
      <h1>Network {name}</h1>
      <p>
        <Status health={health}>{status}</Status> {message}
      </p>
      <dl>
        {facts
          .filter(([, fact]) => fact)
          .map(([term, fact]) => [<dt key={term}>{term}</dt>, <dd key={`of ${term}`}>{fact}</dd>])}
      </dl>
      {boxes.error?.isRefusal && <Failure what="modelboxes" error={boxes.error} />}
      <PodNetworks boxes={boxes.items} network={name} />
      <Conditions conditions={conditions} />
      <Events events={events} uids={new Set([network.metadata.uid])} />
    </>
  )
}
