// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// icon is a box, in the form of Iconify, so that Headlamp does not load one from elsewhere.
export const icon = {
  width: 24,
  height: 24,
  body: '<path fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" d="M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5l8-4.5M12 12v9"/>',
}
