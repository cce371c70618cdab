package chain

import (
	"bytes"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchema: the schema takes what Parse takes, and refuses what an editor can know to be wrong.
func TestSchema(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("chain.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("chain.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(chain string) error {
		data, err := yaml.YAMLToJSON([]byte(chain))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := validator.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(doc)
	}
	first, err := os.ReadFile("../../cmd/squall/init_chain.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good := []string{string(first)}
	for _, e := range extracted {
		good = append(good, one(e.link))
	}
	for _, chain := range good {
		if err := valid(chain); err != nil {
			t.Errorf("%s: %v", chain, err)
		}
	}
	for _, link := range []string{"vlaue: 1s", "unit: sec", "setting: recovery_grase", "extract: {pth: a}", "each: 3", "file: 3"} {
		if valid(one(link)) == nil {
			t.Errorf("the schema takes %s", link)
		}
	}
}
