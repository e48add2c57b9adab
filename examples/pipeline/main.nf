// Patterns in many genomes, a part of the list a task:
//
//   nextflow run main.nf --genomes genomes.txt --patterns patterns.txt --k 3 --size 100
//
// genomes.txt has the absolute path of a genome a line, `size` of which are a task. hits.tsv has the
// bytes of `kmatch edit @genomes.txt patterns.txt -k 3 -o hits.tsv`. On a cluster set an executor, such
// as -process.executor slurm.

params.genomes = 'genomes.txt'
params.patterns = 'patterns.txt'
params.k = 3
params.size = 100
params.folder = '.'

process search {
    cpus 1

    input:
    path part
    path patterns

    output:
    path "${part.baseName}.tsv"

    script:
    """
    kmatch edit @${part} ${patterns} -k ${params.k} -q --threads ${task.cpus} -o ${part.baseName}.tsv
    """
}

workflow {
    // Parts are genomes.1.txt, genomes.2.txt, …
    parts = Channel.fromPath(params.genomes, checkIfExists: true).splitText(by: params.size, file: true)
    search(parts, file(params.patterns, checkIfExists: true))
    search.out.collectFile(
        name: 'hits.tsv',
        storeDir: params.folder,
        keepHeader: true,
        skip: 1,
        sort: { table -> table.baseName.tokenize('.').last().toInteger() },
    )
}
