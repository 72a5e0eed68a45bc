// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/registry/generic"
)

// contents has the objects in a store, of the kinds that are recorded in the cluster.
type contents struct {
	boxes, stacks, networks *objects
}

// openContents returns the contents of a store. The caller must close them.
func openContents(store *Store, config *Config) (*contents, error) {
	opened := &contents{}
	for _, opening := range []struct {
		into    **objects
		kind    *kind
		options generic.RESTOptions
	}{
		{&opened.boxes, boxKind, config.Boxes},
		{&opened.stacks, stackKind, config.Stacks},
		{&opened.networks, networkKind, config.Networks},
	} {
		var err error
		if *opening.into, err = openObjects(opening.kind, store, opening.options); err != nil {
			opened.close()
			return nil, err
		}
	}
	return opened, nil
}

func (c *contents) close() {
	for _, objects := range c.all() {
		if objects != nil {
			objects.close()
		}
	}
}

// all returns the objects of each kind.
func (c *contents) all() []*objects { return []*objects{c.boxes, c.stacks, c.networks} }

// counts has the number of objects of each kind.
type counts struct {
	boxes, stacks, networks int64
}

func (c counts) isZero() bool { return c == counts{} }

func (c counts) String() string {
	return fmt.Sprintf("%d boxes, %d stacks and %d networks", c.boxes, c.stacks, c.networks)
}

// count returns the number of objects in the store.
func (c *contents) count(ctx context.Context) (counts, error) {
	var counted counts
	var err error
	if counted.boxes, err = c.boxes.count(ctx); err != nil {
		return counts{}, err
	}
	if counted.stacks, err = c.stacks.count(ctx); err != nil {
		return counts{}, err
	}
	if counted.networks, err = c.networks.count(ctx); err != nil {
		return counts{}, err
	}
	return counted, nil
}

// checkReadable returns an error if this server does not have an encryption key that objects are encrypted with. The server could
// not read these objects, and would replace a server that has the key. It is no error if an object cannot be read for another
// reason: the server serves the other objects.
func (c *contents) checkReadable(ctx context.Context) error {
	keys := encryptionKeys{}
	for _, objects := range c.all() {
		if err := objects.each(ctx, func(entry entry) { keys.add(objects.noun, entry) }); err != nil {
			return err
		}
	}
	if missing := keys.missing(); missing != nil {
		return fmt.Errorf("objects in the store are encrypted with a key that this server does not have: %w. "+
			"Add all former keys to the file of --encryption-provider-config, or serve only the other objects with --store-recovery=ignore", missing)
	}
	return nil
}
