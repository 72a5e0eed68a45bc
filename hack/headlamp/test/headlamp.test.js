// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Opens every view of the plugin in a browser, with the library of Headlamp, and does every action, against a control plane:
// "make test-headlamp" starts one. The environment has the programs: KUBECONFIG, KUBECTL, CHROMIUM, and SCREENSHOTS, a folder for
// pictures of the views.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'
import { startServer } from './server.js'

const { KUBECTL = 'kubectl', CHROMIUM = '/usr/bin/chromium', SCREENSHOTS } = process.env
const require = createRequire(import.meta.url)
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const patience = 60_000
const accepted = /^The server (accepts|warns)/

let browser
let server
let page
// What the page has asked for, and what went wrong in it.
const requests = new Set()
const problems = []

const kubectl = (...args) => execFileSync(KUBECTL, ['--namespace=headlamp', ...args], { encoding: 'utf8' })
const patch = (object, changes) => kubectl('patch', object, '--type=merge', `--patch=${JSON.stringify(changes)}`)
const pods = (box) => kubectl('get', 'pods', `--selector=modelbox=${box}`, '--output=jsonpath={.items[*].metadata.name}').split(' ').sort()

// The app of Headlamp has its icons. The library loads them.
const icons = 'https://api.iconify.design'

function serveIcons(route) {
  const names = new URL(route.request().url()).searchParams.get('icons').split(',')
  const found = Object.fromEntries(names.map((name) => [name, { body: require(`@iconify/icons-mdi/${name}`).default.body }]))
  return route.fulfill({ json: { prefix: 'mdi', width: 24, height: 24, icons: found } })
}

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options })
  const opened = await context.newPage()
  opened.setDefaultTimeout(patience)
  await context.route(`${icons}/**`, serveIcons)
  opened.on('request', (request) => requests.add(new URL(request.url()).origin))
  opened.on('pageerror', (error) => problems.push(String(error)))
  opened.on('console', (message) => {
    if (message.type() === 'error' && /modelbox/.test(message.text())) problems.push(message.text())
  })
  return opened
}

const visit = (path, of = page, cluster = 'main') => of.goto(`${server.url}/c/${cluster}/modelbox/${path}`)

async function picture(name, of = page) {
  if (SCREENSHOTS) await of.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

// checkAccessibility fails for what axe calls serious.
async function checkAccessibility(view, of = page) {
  await of.evaluate(axe)
  const { violations } = await of.evaluate(() => globalThis.axe.run('main, [role=dialog]'))
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${view}: ${id}: ${nodes.map((node) => node.html).join(' ')}`),
    [],
  )
}

// row returns the row of a table with the texts of its cells, which may be parts of them.
const row = (...cells) => cells.reduce((rows, cell) => rows.filter({ hasText: cell }), page.getByRole('row'))

// confirm presses the button of an action, checks what the dialog says, and confirms it.
async function confirm(button, warning, done) {
  await page.getByRole('button', { name: button, exact: true }).click()
  await confirmDialog(button, warning, done)
}

async function confirmDialog(button, warning, done) {
  const dialog = page.getByRole('dialog')
  await dialog.getByText(warning).first().waitFor()
  await picture(`confirm-${button.toLowerCase().replaceAll(' ', '-')}`)
  await dialog.getByRole('button', { name: button, exact: true }).click()
  await page.getByText(done, { exact: true }).waitFor()
  await dialog.waitFor({ state: 'detached' })
}

before(async () => {
  kubectl('apply', `--filename=${new URL('objects.yaml', import.meta.url).pathname}`)
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', 'modelbox/agent', '--timeout=120s')
  server = await startServer(KUBECTL, { main: [], anna: ['--as=anna'] })
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  page = await open()
})

after(async () => {
  await browser?.close()
  server?.stop()
})

test('boxes are listed with the columns of kubectl get, and by namespace', async () => {
  await visit('boxes')
  await page.getByRole('heading', { name: 'Boxes' }).waitFor()
  for (const cell of ['Ready', 'Up-to-date', 'Status', 'Message', 'Image', 'Address', 'Age']) await page.getByRole('columnheader', { name: cell }).first().waitFor()
  await row('front', 'headlamp', '2/2', 'Ready', 'nginx:1.7.9', 'front.headlamp.svc:80').waitFor()
  await row('shop-orders', '0/1', 'Unschedulable', "didn't match Pod's node affinity/selector").waitFor()
  await picture('boxes')
  await checkAccessibility('boxes')
  // Headlamp keeps the namespaces that a user chooses.
  const other = await open()
  await visit('boxes?namespace=default', other)
  await other.getByText('No data to be shown').first().waitFor()
  assert.equal(await other.getByText('front').count(), 0)
  await other.context().close()
})

test('the sidebar leads to stacks, networks and debuggers', async () => {
  const sidebar = (name) => page.getByRole('button', { name, exact: true }).first().click()
  await visit('boxes')
  await sidebar('Stacks')
  await row('shop', '2/4', 'orders').waitFor()
  await picture('stacks')
  await checkAccessibility('stacks')
  await sidebar('Networks')
  await row('lan', 'bridge', '192.168.0.0/16', '192.168.0.1', 'NotServed').waitFor()
  await picture('networks')
  await checkAccessibility('networks')
  await sidebar('Debuggers')
  await row('tools', 'modelbox=agent', 'busybox:1.37', '0/2', 'ContainerWaiting').waitFor()
  await picture('debuggers')
  await checkAccessibility('debuggers')
  await page.getByRole('link', { name: 'tools' }).click()
  await page.getByRole('heading', { name: 'PodDebugger: tools' }).waitFor()
  await row(pods('agent')[0], 'agent', 'Waiting').first().waitFor()
  await picture('debugger')
  await checkAccessibility('debugger')
})

test('a stack shows what waits for what, and is paused and resumed', async () => {
  await visit('stacks/headlamp/shop')
  await row('web (shop-web)', '0/3', 'Waiting', 'orders').waitFor()
  await row('mail (mail.example.com:25)', 'Ready').waitFor()
  await row('Ready', 'False').waitFor()
  await picture('stack')
  await checkAccessibility('stack')
  await confirm('Pause', 'The server accepts it, without a warning.', 'stack shop paused')
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Restart' }).count(), 0)
  await confirm('Resume', 'The server accepts it, without a warning.', 'stack shop resumed')
  await page.getByRole('button', { name: 'Restart' }).waitFor()
  await page.getByRole('link', { name: 'shop-orders' }).click()
  await page.getByRole('heading', { name: 'ModelBox: shop-orders' }).waitFor()
})

test('a box that is not ready shows its reason', async () => {
  await page.getByText('Unschedulable').first().waitFor()
  await page.getByText(/didn't match Pod's node affinity\/selector/).first().waitFor()
  await page.getByRole('link', { name: 'shop', exact: true }).waitFor()
  await picture('box-waiting')
})

test('a box shows its children, pods, conditions, history and events', async () => {
  await visit('boxes/headlamp/front')
  await row('Deployment', 'front', '2/2').waitFor()
  await row(/^Service/, 'front').waitFor()
  for (const pod of pods('front')) await row(pod, '1/1', 'Running').first().waitFor()
  await row('Ready', 'True', '2 of 2 replicas are available').waitFor()
  await row('1', 'nginx:1.7.9', 'kubernetes-admin').waitFor()
  await row(/ScalingReplicaSet|SuccessfulCreate/).first().waitFor()
  await picture('box')
  await checkAccessibility('box')
  await row('Deployment', '2/2').getByRole('link', { name: 'front' }).click()
  await page.getByText('RollingUpdate').first().waitFor()
  await visit('boxes/headlamp/front')
  await row(/^Service/, 'front').getByRole('link').click()
  await page.getByText('ClusterIP').first().waitFor()
})

test('a stateful set and a daemon set are children', async () => {
  await visit('boxes/headlamp/shop-db')
  await row('StatefulSet', 'shop-db', '1/1').waitFor()
  await row('shop-db-0', 'Running').waitFor()
  await visit('boxes/headlamp/agent')
  await row('DaemonSet', 'agent', '2/2').waitFor()
})

test('a box is paused and resumed', async () => {
  await visit('boxes/headlamp/front')
  await confirm('Pause', 'The server accepts it, without a warning.', 'box front paused')
  assert.equal(kubectl('get', 'modelbox/front', '--output=jsonpath={.spec.paused}'), 'true')
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Restart' }).count(), 0)
  await confirm('Resume', accepted, 'box front resumed')
  await page.getByRole('button', { name: 'Restart' }).waitFor()
})

test('a restart replaces all pods', async () => {
  const former = pods('front')
  await confirm('Restart', 'rolls 2 pods', 'box front restarted')
  for (const pod of former) await row(pod).first().waitFor({ state: 'detached' })
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  for (const pod of pods('front')) assert.ok(!former.includes(pod))
})

test('a box is rolled back to a revision', async () => {
  kubectl('annotate', '--overwrite', 'modelbox/front', 'kubernetes.io/change-cause=a newer one')
  patch('modelbox/front', { spec: { image: 'nginx:1.9.1' } })
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  await row('nginx:1.9.1', 'a newer one', 'spec.image: "nginx:1.7.9" → "nginx:1.9.1"').waitFor()
  await page.getByText('History').first().scrollIntoViewIfNeeded()
  await picture('box-history')
  await page.getByRole('button', { name: 'Roll back' }).click()
  await picture('box-revisions')
  await page.getByRole('menuitem', { name: 'Roll back to 1 (nginx:1.7.9)' }).click()
  await confirmDialog('Roll back to 1', 'rolls 2 pods', 'box front rolled back to revision 1')
  assert.equal(kubectl('get', 'modelbox/front', '--output=jsonpath={.spec.image}'), 'nginx:1.7.9')
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
})

test('a rollout in steps is promoted, aborted, and tried again', async () => {
  const steps = [{ weight: 50, pause: 'Manual' }, { weight: 75, pause: '1h' }]
  patch('modelbox/front', { spec: { image: 'nginx:1.9.2', rollout: { type: 'Canary', steps } } })
  await page.getByText('1 of 2', { exact: true }).waitFor()
  await row('Deployment', 'front-canary', '1/1').waitFor()
  await confirm('Promote', accepted, 'rollout of box front promoted')
  await page.getByText('2 of 2', { exact: true }).waitFor()
  await page.getByText(/^in (1h|59m)/).waitFor()
  await page.getByText(/^front-\w+$/).first().waitFor()
  await picture('box-canary')
  await checkAccessibility('canary')
  await confirm('Abort', accepted, 'rollout of box front aborted')
  await page.getByText('RolledBack').first().waitFor()
  await confirm('Retry', accepted, 'rollout of box front retried')
  await page.getByText('1 of 2', { exact: true }).waitFor()
  await confirm('Promote fully', accepted, 'rollout of box front promoted')
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  await page.getByRole('button', { name: 'Promote fully' }).waitFor({ state: 'detached' })
})

test('a rollback leaves out the steps of a rollout', async () => {
  patch('modelbox/front', { spec: { image: 'nginx:1.9.3' } })
  await confirm('Promote fully', accepted, 'rollout of box front promoted')
  await row('nginx:1.9.3', 'spec.image: "nginx:1.9.2" → "nginx:1.9.3"').waitFor()
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
  await page.getByRole('button', { name: 'Roll back' }).click()
  await page.getByRole('menuitem', { name: /^Roll back to / }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('rolls 2 pods in steps').waitFor()
  await dialog.getByLabel('Immediately').check()
  await dialog.getByText('rolls 2 pods without the steps of the rollout').waitFor()
  await picture('confirm-immediate-rollback')
  await checkAccessibility('immediate rollback')
  await dialog.getByRole('button', { name: /^Roll back to / }).click()
  await dialog.waitFor({ state: 'detached' })
  kubectl('wait', '--for=condition=Ready', 'modelbox/front', '--timeout=120s')
})

test('the checks of a rollout are shown with their results', async () => {
  const other = await open()
  // The control plane has no Prometheus, so it takes no box with checks: the answer of the server gets them on its way.
  await other.routeWebSocket(/modelboxes\?/, () => {})
  await other.route(/modelboxes\/front$/, async (route) => {
    const response = await route.fetch()
    const front = await response.json()
    front.spec.rollout.checks = [{ name: 'error-rate', max: '0.05', count: 5 }, { name: 'latency', min: '1', max: '200' }]
    front.status.rollout.checks = [
      { name: 'error-rate', step: 1, successes: 2, failures: 1, value: '0.2', message: '0.2 is more than 0.05' },
      { name: 'latency', step: 1, successes: 1, value: '120' },
    ]
    await route.fulfill({ response, json: front })
  })
  await visit('boxes/headlamp/front', other)
  const rowOf = (name) => other.getByRole('row').filter({ hasText: name })
  assert.match(await rowOf('error-rate').innerText(), /error-rate\s+1\s+2 of 5\s+1\s+0\s+0.2\s+at most 0.05\s+0.2 is more than 0.05/)
  assert.match(await rowOf('latency').innerText(), /latency\s+1\s+1 of 1\s+0\s+0\s+120\s+1 to 200/)
  await rowOf('latency').scrollIntoViewIfNeeded()
  await picture('box-checks', other)
  await checkAccessibility('checks', other)
  await other.context().close()
})

test('a network is shown with the addresses of pods', async () => {
  const [pod] = pods('router')
  const interfaces = JSON.stringify([{ name: 'headlamp/lan', interface: 'net1', ips: ['192.168.0.2'], mac: '9e:0c:d9:b2:f0:a6' }])
  kubectl('annotate', `pod/${pod}`, `k8s.v1.cni.cncf.io/network-status=${interfaces}`)
  await visit('networks/headlamp/lan')
  await row(pod, 'router', 'net1', '192.168.0.2').waitFor()
  await page.getByText('1 used, 65532 free').waitFor()
  await picture('network')
  await checkAccessibility('network')
  await row(pod).getByRole('link', { name: 'router' }).click()
  await row(pod, 'lan', 'net1').getByRole('link', { name: 'lan' }).click()
  await page.getByRole('heading', { name: 'Network: lan' }).waitFor()
})

test('the map has stacks, boxes and their children', async () => {
  await page.goto(`${server.url}/c/main/map?namespace=headlamp`)
  const group = (kind, name) => page.locator('.react-flow__node').filter({ hasText: kind }).filter({ hasText: name }).first()
  await group('ModelStack', 'shop').waitFor()
  await group('ModelBox', 'front').waitFor()
  await group('ModelBox', 'agent').waitFor()
  await picture('map')
})

test('a refusal of the server is shown, and cannot be confirmed', async () => {
  await visit('boxes/headlamp/agent')
  await page.getByRole('button', { name: 'Restart' }).waitFor()
  // Another user pauses the box while the user of the page is asked.
  await page.context().route(/\/restart\?.*dryRun=All/, (route) => {
    patch('modelbox/agent', { spec: { paused: true } })
    return route.continue()
  })
  await page.getByRole('button', { name: 'Restart' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText("can't restart paused modelbox").waitFor()
  await picture('refusal')
  assert.ok(await dialog.getByRole('button', { name: 'Restart' }).isDisabled())
  await checkAccessibility('refusal')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('a page with another origin than the backend says that it cannot read warnings', async () => {
  const other = await open()
  await other.addInitScript(() => Object.defineProperty(Response.prototype, 'type', { get: () => 'cors' }))
  await visit('boxes/headlamp/agent', other)
  await other.getByRole('button', { name: 'Resume' }).click()
  await other.getByText('The server accepts it. Headlamp does not let this page read the warnings of the server.').waitFor()
  await other.context().close()
})

test('a user without rights is told what they may not read, and is offered nothing', async () => {
  const annas = await open()
  await visit('boxes/headlamp/front', annas, 'anna')
  await annas.getByRole('heading', { name: 'ModelBox: front' }).waitFor()
  for (const what of ['deployments', 'pods', 'the history', 'events']) await annas.getByText(`You may not read ${what}: `).waitFor()
  await picture('box-without-rights', annas)
  for (const name of ['Pause', 'Restart', 'Roll back']) assert.equal(await annas.getByRole('button', { name, exact: true }).count(), 0)
  await annas.context().close()
})

test('the page has asked the server alone, and no error is of the plugin', () => {
  for (const origin of requests) assert.ok([server.url, icons, 'null'].includes(origin), origin)
  assert.deepEqual(problems, [])
})
